# voicectl in a container, built from a clone:
#   docker build -t voicectl .
#   docker run --rm --user "$(id -u)" -e VOICECTL_API_KEY -v "$PWD:/work" voicectl stream --file hello.wav \
#     --base-url https://voice.example --junit junit.xml
#   docker run --rm -p 8787:8787 voicectl serve --host 0.0.0.0 --accept-key "$DEVICE_KEY"
# Without native audio: a container has no microphone.
FROM node:22-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm pack --ignore-scripts --pack-destination /tmp

FROM node:22-slim
COPY --from=build /tmp/voicectl-*.tgz /tmp/
RUN npm install --prefix /opt/voicectl --ignore-scripts --omit=optional /tmp/voicectl-*.tgz && rm /tmp/voicectl-*.tgz
USER node
WORKDIR /work
EXPOSE 8787
ENTRYPOINT ["/opt/voicectl/node_modules/.bin/voicectl"]
CMD ["--help"]

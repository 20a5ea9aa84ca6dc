# voicectl in a container, built from a clone:
#   docker build -t voicectl .
#   docker run --rm --user "$(id -u)" -e VOICECTL_API_KEY -v "$PWD:/work" voicectl stream --file hello.wav \
#     --base-url https://voice.example --junit junit.xml
#   docker run --rm -p 8787:8787 voicectl serve --host 0.0.0.0 --accept-key "$DEVICE_KEY"
# The image contains a single file, without Node and without native audio: a container has no microphone.
FROM node:24-bookworm-slim AS build
WORKDIR /build
# strip (from binutils) makes the file a tenth smaller.
RUN apt-get update && apt-get install -y --no-install-recommends binutils && rm -rf /var/lib/apt/lists/*
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN case "$(uname -m)" in x86_64) platform=linux-x64 ;; aarch64) platform=linux-arm64 ;; esac \
  && npm run executables -- "$platform" && mv "executables/voicectl-$platform" /voicectl

FROM debian:bookworm-slim
RUN useradd --create-home --uid 10001 voicectl && mkdir /work && chown voicectl /work
COPY --from=build /voicectl /usr/local/bin/voicectl
USER voicectl
# Unpacks the files now, so that the program also runs where nothing can be written.
RUN voicectl --version --verbose
WORKDIR /work
EXPOSE 8787
# Checks that serve is listening. Commands that end by themselves need no health check.
HEALTHCHECK --interval=10s --timeout=2s --start-period=5s CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${VOICECTL_PORT:-8787}"]
ENTRYPOINT ["/usr/local/bin/voicectl"]
CMD ["--help"]

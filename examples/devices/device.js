// A voice device in JavaScript: npm install ws; then
//   npx voicectl drill -- node device.js
// Replace microphone() and createSpeaker() with your audio input and output.
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';

const baseUrl = process.env.VOICECTL_BASE_URL ?? 'http://127.0.0.1:8787';
const wsUrl = process.env.VOICECTL_WS_URL ?? baseUrl.replace(/^http/, 'ws');
const apiKey = process.env.VOICECTL_API_KEY ?? 'voicectl-development-key';
const deviceId = process.env.VOICECTL_DEVICE ?? 'javascript-device';

const frameMs = 20;
const samplesPerFrame = 320; // 16 kHz, 16-bit, mono
const pingEveryMs = 4_000;
const answerWithinMs = 5_000;
const firstWaitMs = 500;
const longestWaitMs = 30_000;
const healthyMs = 10_000;

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stopping.abort());

class NoToken extends Error {
  /** @param {string} message @param {number} retryAfterMs */
  constructor(message, retryAfterMs) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

let failures = 0;
while (!stopping.signal.aborted) {
  let atLeastMs = 0;
  try {
    // A token is for one connection, and is used at once.
    const livedMs = await converse(await requestToken());
    if (livedMs >= healthyMs) failures = 0;
  } catch (error) {
    if (!stopping.signal.aborted) console.error(String(error));
    if (error instanceof NoToken) atLeastMs = error.retryAfterMs;
  }
  // Exponential backoff with jitter, but never sooner than the service allows.
  const backoffMs = Math.min(longestWaitMs, firstWaitMs * 2 ** failures) * (1 + Math.random() / 4);
  failures += 1;
  await sleep(Math.max(backoffMs, atLeastMs), undefined, { signal: stopping.signal }).catch(() => {});
}

/** @returns {Promise<string>} */
async function requestToken() {
  const response = await fetch(`${baseUrl}/api/websocket-voice/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify({ apiKey, deviceId }),
    redirect: 'error', // The key is only for this address.
    signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(answerWithinMs)]),
  });
  /** @type {any} */
  const body = await response.json().catch(() => undefined);
  if (response.status === 200 && typeof body?.token === 'string') return body.token;
  const retryAfter = response.headers.get('Retry-After') ?? '0'; // Seconds, or a date.
  const retryAfterMs = /^\d+$/.test(retryAfter)
    ? 1_000 * Number(retryAfter)
    : Date.parse(retryAfter) - Date.now() || 0;
  throw new NoToken(`No token: ${response.status} ${body?.error?.code ?? ''}`, retryAfterMs);
}

/**
 * Talks until the connection ends, for whatever reason; resolves with how long that was.
 * @param {string} token
 * @returns {Promise<number>}
 */
function converse(token) {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${wsUrl}/voice-stream`, {
      handshakeTimeout: answerWithinMs,
      perMessageDeflate: false,
    });
    const openedAt = performance.now();
    const play = createSpeaker();
    /** @type {NodeJS.Timeout | undefined} */
    let sending;
    let heard = true;
    const confirmation = setTimeout(() => socket.terminate(), answerWithinMs);
    const heartbeat = setInterval(() => {
      // Nothing has arrived since the last ping: the service is gone.
      if (!heard) socket.terminate();
      heard = false;
      if (socket.readyState === WebSocket.OPEN) socket.ping();
    }, pingEveryMs);
    const stop = () => socket.close(1000, 'the device stops');
    stopping.signal.addEventListener('abort', stop);

    socket.on('open', () => socket.send(token));
    socket.on('pong', () => {
      heard = true;
    });
    socket.on('message', (data, isBinary) => {
      heard = true;
      if (isBinary) {
        play(/** @type {Buffer} */ (data));
      } else if (kindOf(data) === 'service_voice_connected' && sending === undefined) {
        clearTimeout(confirmation);
        sending = speak(socket);
      }
    });
    socket.on('error', (error) => console.error(error.message));
    socket.on('close', (code, reason) => {
      console.error(`closed: ${code} ${reason}`);
      clearTimeout(confirmation);
      clearInterval(heartbeat);
      clearInterval(sending);
      stopping.signal.removeEventListener('abort', stop);
      resolve(performance.now() - openedAt);
    });
  });
}

/**
 * Unknown kinds are ignored: later versions may add them.
 * @param {import('ws').RawData} data
 */
function kindOf(data) {
  try {
    return JSON.parse(data.toString())?.type;
  } catch {
    return undefined;
  }
}

/**
 * Sends a frame every 20 ms, and catches up after a delay.
 * @param {WebSocket} socket
 */
function speak(socket) {
  const frames = microphone();
  const startedAt = performance.now();
  let sent = 0;
  return setInterval(() => {
    while (socket.readyState === WebSocket.OPEN && sent * frameMs <= performance.now() - startedAt) {
      socket.send(frames.next().value);
      sent += 1;
    }
  }, frameMs);
}

/**
 * A tone in place of a microphone: frames of 20 ms, s16le.
 * @returns {Generator<Buffer, never>}
 */
function* microphone() {
  for (let at = 0; ; at += samplesPerFrame) {
    const frame = Buffer.alloc(samplesPerFrame * 2);
    for (let i = 0; i < samplesPerFrame; i += 1) {
      frame.writeInt16LE(Math.round(8_000 * Math.sin((2 * Math.PI * 440 * (at + i)) / 16_000)), i * 2);
    }
    yield frame;
  }
}

/** Plays the service's audio. A message may end within a sample: the half is kept for the next one. */
function createSpeaker() {
  let half = Buffer.alloc(0);
  return (/** @type {Buffer} */ data) => {
    const pcm = Buffer.concat([half, data]);
    const wholeBytes = pcm.length - (pcm.length % 2);
    half = pcm.subarray(wholeBytes);
    // Here pcm.subarray(0, wholeBytes) goes to the loudspeaker.
  };
}

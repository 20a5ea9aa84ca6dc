/** A service whose delays are known, because it logs each of them: what a load run reports can be held against it. */
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { frameBytes, frameMs } from './audio.js';

/**
 * @typedef {object} Known
 * @property {number} speechFrames The frame of each turn after which the reply is due.
 * @property {number} tokenMs
 * @property {number} firstAudioMs
 * @property {number} spreadMs First audio is earlier or later by up to this.
 * @property {number} refused Share of the token requests that are refused.
 * @property {number} cut Share of the streams that are cut in place of a reply.
 *
 * @typedef {object} Log Milliseconds, as the service saw them.
 * @property {number[]} token From the acceptance of its connection to the answer.
 * @property {number[]} refused The same of those that were refused.
 * @property {number[]} firstAudio From the last frame of speech to the reply.
 * @property {number[]} cut From the end of speech to the cut.
 * @property {number[]} closes Codes with which streams were closed.
 */

const replyFrames = 10;

/**
 * @param {Known} known
 * @param {{ now(): number, after(ms: number, call: () => void): unknown }} clock
 */
export function createKnownService(known, clock) {
  /** @type {Log} */
  const log = { token: [], refused: [], firstAudio: [], cut: [], closes: [] };
  const random = createRandom(1);
  /** @type {WeakMap<import('node:net').Socket, number>} */
  const accepted = new WeakMap();
  const server = createServer((request, response) => {
    const at = accepted.get(request.socket) ?? clock.now();
    // A second request on the same connection has a clock of its own.
    accepted.delete(request.socket);
    request.resume();
    request.on('end', () => {
      const isRefused = random() < known.refused;
      clock.after(known.tokenMs, () => {
        log[isRefused ? 'refused' : 'token'].push(clock.now() - at);
        response.writeHead(isRefused ? 403 : 200, { 'Content-Type': 'application/json' });
        response.end(
          JSON.stringify(isRefused ? { error: { code: 'NO', message: 'no' } } : { token: 'a.known.token' }),
        );
      });
    });
  });
  // A busy service reads a request late, and its client has waited already.
  server.on('connection', (socket) => accepted.set(socket, clock.now()));
  new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket) => {
    let frames = 0;
    const isCut = random() < known.cut;
    const delay = known.firstAudioMs + (random() * 2 - 1) * known.spreadMs;
    const speak = (/** @type {number} */ left) => {
      if (left === 0 || socket.readyState !== 1) return;
      socket.send(Buffer.alloc(frameBytes, 1));
      clock.after(frameMs, () => speak(left - 1));
    };
    socket.on('message', (_data, isBinary) => {
      if (!isBinary) {
        socket.send(JSON.stringify({ type: 'service_voice_connected' }));
        return;
      }
      frames += 1;
      if (frames !== known.speechFrames) return;
      const at = clock.now();
      clock.after(delay, () => {
        log[isCut ? 'cut' : 'firstAudio'].push(clock.now() - at);
        if (isCut) socket.terminate();
        else speak(replyFrames);
      });
    });
    socket.on('close', (code) => log.closes.push(code));
  });
  return { server, log };
}

/**
 * Numbers from 0 to 1, the same for the same seed (mulberry32).
 *
 * @param {number} seed
 */
function createRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

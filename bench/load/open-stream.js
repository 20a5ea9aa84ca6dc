import { systemClock } from '../../src/kernel/clock.ts';
import { createFastDialer } from '../../src/wire/client/fast-stream.ts';
import { requestToken } from '../../src/wire/client/token.ts';

/**
 * A stream of the generator of `voicectl load`: the same sockets, frames and reader.
 *
 * @typedef {object} LoadStream
 * @property {import('../../src/wire/client/fast-stream.ts').FastStream} stream
 * @property {boolean} closed
 * @property {(payload: Buffer) => void} onAudio Takes a view that is valid only during the call.
 *
 * @typedef {{ port: number, needsToken: boolean }} Target A floor takes any token.
 */

/**
 * Opens a voice stream.
 *
 * @param {Target} target
 * @param {string} deviceId
 * @returns {Promise<LoadStream>} resolves with the first text message, which confirms the connection
 */
export async function openStream({ port, needsToken }, deviceId) {
  const token = needsToken ? await fetchToken(port, deviceId) : `token-of-${deviceId}`;
  const dial = createFastDialer({ url: `ws://127.0.0.1:${port}/voice-stream`, clock: systemClock });
  return new Promise((resolve, reject) => {
    /** @type {LoadStream} */
    const opened = {
      closed: false,
      onAudio() {},
      stream: dial({
        onOpen: () => opened.stream.sendText(token),
        onText: () => resolve(opened),
        onAudio: () => opened.onAudio(opened.stream.payload),
        onEnd({ failure }) {
          opened.closed = true;
          reject(failure ?? new Error('the stream was closed before it was confirmed'));
        },
      }),
    };
  });
}

/** @param {number} port @param {string} deviceId */
async function fetchToken(port, deviceId) {
  const { token } = await requestToken({
    baseUrl: `http://127.0.0.1:${port}`,
    apiKey: 'bench',
    deviceId,
    retries: 0,
    clock: systemClock,
    signal: AbortSignal.timeout(30_000),
  });
  return token;
}

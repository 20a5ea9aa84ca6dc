import { connect } from 'node:net';
import { clientFrame } from './client-frame.js';

const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 };
/** What is read goes here and is dealt with at once, so that one buffer serves every socket. */
const shared = Buffer.allocUnsafeSlow(256 * 1024);

/**
 * @typedef {object} LoadSocket
 * @property {import('node:net').Socket} socket
 * @property {boolean} closed
 * @property {(payload: Buffer) => void} onAudio Takes a view that is valid only during the call.
 */

/**
 * Opens a voice stream with as little as can be: a socket, and frames read in place. A client library would cost as
 * much as the service that it is to measure.
 *
 * @param {{ port: number, token: string }} target
 * @returns {Promise<LoadSocket>} resolves with the first text message, which confirms the connection
 */
export function openSocket({ port, token }) {
  return new Promise((resolve, reject) => {
    let rest = Buffer.alloc(0);
    let isUpgraded = false;
    let isReady = false;
    /** @type {LoadSocket} */
    const opened = { socket: connectTo(), closed: false, onAudio() {} };

    function connectTo() {
      return connect({
        port,
        host: '127.0.0.1',
        noDelay: true,
        onread: {
          buffer: shared,
          callback(bytes) {
            take(shared.subarray(0, bytes));
            return true;
          },
        },
      });
    }

    /** @param {Buffer} bytes */
    const take = (bytes) => {
      let data = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      if (!isUpgraded) {
        const end = data.indexOf('\r\n\r\n');
        if (end >= 0 && !data.subarray(0, 12).equals(Buffer.from('HTTP/1.1 101'))) {
          reject(new Error(`upgrade refused: ${data.toString('latin1', 0, end).split('\r\n')[0]}`));
          opened.socket.destroy();
          return;
        }
        if (end >= 0) {
          isUpgraded = true;
          opened.socket.write(clientFrame(opcodes.text, Buffer.from(token)));
          data = data.subarray(end + 4);
        }
      }
      const used = isUpgraded ? readFrames(data) : 0;
      rest = used === data.length ? Buffer.alloc(0) : Buffer.from(data.subarray(used));
    };

    /** @param {Buffer} data */
    const readFrames = (data) => {
      let at = 0;
      while (data.length - at >= 2) {
        let length = (data[at + 1] ?? 0) & 127;
        let head = 2;
        if (length === 126) {
          if (data.length - at < 4) break;
          length = data.readUInt16BE(at + 2);
          head = 4;
        } else if (length === 127) {
          if (data.length - at < 10) break;
          length = Number(data.readBigUInt64BE(at + 2));
          head = 10;
        }
        if (data.length - at < head + length) break;
        takeFrame((data[at] ?? 0) & 15, data.subarray(at + head, at + head + length));
        at += head + length;
      }
      return at;
    };

    /** @param {number} opcode @param {Buffer} payload */
    const takeFrame = (opcode, payload) => {
      if (opcode === opcodes.binary) opened.onAudio(payload);
      else if (opcode === opcodes.ping) opened.socket.write(clientFrame(opcodes.pong, payload));
      else if (opcode === opcodes.close) opened.socket.destroy();
      else if (!isReady) {
        isReady = true;
        resolve(opened);
      }
    };

    opened.socket.on('close', () => {
      opened.closed = true;
      reject(new Error('the stream was closed before it was confirmed'));
    });
    opened.socket.on('error', reject);
    opened.socket.write(
      [
        'GET /voice-stream HTTP/1.1',
        `Host: 127.0.0.1:${port}`,
        'Upgrade: websocket',
        'Connection: Upgrade',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        'Sec-WebSocket-Version: 13',
        '\r\n',
      ].join('\r\n'),
    );
  });
}

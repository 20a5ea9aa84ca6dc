/**
 * The floors of `load`: sessions that get a token, connect, and send a message of 20 ms every 20 ms, spread over
 * ten moments of the 20 ms, one timer for all. Whatever comes is heard: how long after the message before it.
 * `load-client.js ws|write PORT SESSIONS PER_SECOND SECONDS`: with bare `ws`; or, as the least that Node can do, with
 * nothing but `socket.write` of one frame that was masked once. Prints what it has done, once a second, as JSON.
 */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { frameBytes, frameMs } from '../load/audio.js';

const [kind = 'ws', port = '', count = '0', perSecond = '0', seconds = '0'] = process.argv.slice(2);
const sessions = Number(count);
const slots = 10;
const agent = new Agent({ keepAlive: true });

/**
 * @typedef {object} Session
 * @property {() => void} send
 * @property {() => void} close
 */

/** @type {Set<Session>[]} */
const wheel = Array.from({ length: slots }, () => new Set());
const late = new Uint32Array(10_000);
let [opened, ended, frames, heard, longestGap] = [0, 0, 0, 0, 0];

/** @returns {Promise<string>} */
function fetchToken() {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json' };
    const asked = request({ agent, port, method: 'POST', path: '/token', headers }, async (answer) => {
      let text = '';
      for await (const chunk of answer) text += chunk;
      resolve(JSON.parse(text).token);
    });
    asked.on('error', reject);
    asked.end('{"apiKey":"bench","deviceId":"bench"}');
  });
}

/** Notes how long after the message before it one came. */
function createEar() {
  let last = performance.now();
  return () => {
    const now = performance.now();
    heard += 1;
    longestGap = Math.max(longestGap, now - last);
    last = now;
  };
}

/** @param {string} token @param {(session: Session) => void} onOpen @param {() => void} onEnd */
function openWs(token, onOpen, onEnd) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/voice-stream`, { perMessageDeflate: false });
  const frame = Buffer.alloc(frameBytes);
  socket.on('open', () => socket.send(token));
  socket.once('message', () => {
    socket.on('message', createEar());
    onOpen({ send: () => socket.send(frame), close: () => socket.close() });
  });
  socket.on('close', onEnd);
}

/** A masked frame. @param {number} opcode @param {Buffer} payload */
function maskedFrame(opcode, payload) {
  const head = payload.length < 126 ? [0x80 | payload.length] : [0xfe, payload.length >> 8, payload.length];
  // With a mask of zeros the payload stays as it is.
  return Buffer.concat([Buffer.from([0x80 | opcode, ...head, 0, 0, 0, 0]), payload]);
}

const silence = maskedFrame(2, Buffer.alloc(frameBytes));

/** @param {string} token @param {(session: Session) => void} onOpen @param {() => void} onEnd */
function openBare(token, onOpen, onEnd) {
  let answers = 0;
  const hear = createEar();
  const onRead = () => {
    answers += 1;
    if (answers === 1) socket.write(maskedFrame(1, Buffer.from(token)));
    else if (answers === 2)
      onOpen({ send: () => socket.write(silence), close: () => socket.end(maskedFrame(8, Buffer.alloc(0))) });
    else hear();
    return true;
  };
  const socket = connect({
    ...{ port: Number(port), host: '127.0.0.1', noDelay: true },
    onread: { buffer: received, callback: onRead },
  });
  socket.write(
    `GET /voice-stream HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  );
  socket.on('end', () => socket.destroy());
  socket.on('close', onEnd);
}

const received = Buffer.alloc(256 * 1024);

/** @param {number} index */
async function open(index) {
  const start = kind === 'ws' ? openWs : openBare;
  start(
    await fetchToken(),
    (session) => {
      opened += 1;
      const slot = wheel[index % slots];
      slot?.add(session);
      setTimeout(() => {
        slot?.delete(session);
        session.close();
      }, Number(seconds) * 1000);
    },
    () => {
      ended += 1;
      if (ended === sessions) report().then(() => process.exit(0));
    },
  );
}

/** Milliseconds of which 99 % of the frames of the last second were no later. */
function lateP99() {
  let left = Math.ceil(late.reduce((sum, some) => sum + some, 0) * 0.99);
  for (const [index, some] of late.entries()) {
    left -= some;
    if (left <= 0) return (index + 1) * 0.05;
  }
  return late.length * 0.05;
}

function report() {
  const open = opened - ended;
  const text = JSON.stringify({ open, frames, heard, longestGap, lateP99: lateP99() });
  late.fill(0);
  return new Promise((resolve) => process.stdout.write(`${text}\n`, resolve));
}

for (let index = 0; index < sessions; index += 1) {
  setTimeout(() => open(index), (index / Number(perSecond)) * 1000);
}
setInterval(report, 1000);
const start = performance.now();
let next = 0;
const step = () => {
  const now = performance.now();
  for (; start + (next * frameMs) / slots <= now; next += 1) {
    const due = start + (next * frameMs) / slots;
    for (const session of wheel[next % slots] ?? []) {
      const at = Math.min(late.length - 1, Math.floor((performance.now() - due) * 20));
      late[at] = (late[at] ?? 0) + 1;
      session.send();
      frames += 1;
    }
  }
  const left = start + (next * frameMs) / slots - performance.now();
  // A timer takes a millisecond at least.
  if (left < 0) setImmediate(step);
  else setTimeout(step, left);
};
step();

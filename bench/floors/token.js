/**
 * The least that a token request asks of Node (*POST /api/websocket-voice/token*): its body is read, a device counted, a JWT signed, and the
 * limit told in headers. Nothing is refused, reported or kept.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { announce } from './announce.js';

const secret = Buffer.alloc(32, 7);
const header = encode({ typ: 'JWT', alg: 'HS256' });
/** @type {Map<string, number>} */
const requests = new Map();

/** @param {object} value */
function encode(value) {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** @param {string} device */
function sign(device) {
  const now = Math.floor(Date.now() / 1000);
  const claims = { sub: device, iss: 'floor', aud: 'voice-api', iat: now, exp: now + 60, jti: randomUUID() };
  const text = `${header}.${encode(claims)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const { deviceId } = JSON.parse(Buffer.concat(parts).toString());
    const count = (requests.get(deviceId) ?? 0) + 1;
    requests.set(deviceId, count);
    const body = JSON.stringify({ token: sign(deviceId) });
    response
      .writeHead(200, {
        'Content-Type': 'application/json',
        'Content-Length': body.length,
        'Cache-Control': 'no-cache, no-store, must-revalidate',
        'X-RateLimit-Limit': 60,
        'X-RateLimit-Remaining': Math.max(0, 60 - count),
        'X-RateLimit-Reset': Math.ceil(Date.now() / 1000) + 60,
      })
      .end(body);
  });
});
server.listen(0, '127.0.0.1', () => announce(server));

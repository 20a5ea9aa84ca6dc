import { createHash, randomBytes } from 'node:crypto';
import { VoicectlError } from '../../kernel/errors.ts';
import { readError } from '../../protocol/error-body.ts';
import { parseJson } from '../../protocol/parse-json.ts';
import type { Header, HttpAnswer } from '../exchange.ts';
import { headerValue } from '../headers.ts';
import { upgradeError } from './refusal-error.ts';

/** A server appends this to the key of the client (RFC 6455, section 1.3). */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const maxHeadBytes = 16 * 1024;

/** The opening handshake of a WebSocket, made once for many connections to one address. */
export interface UpgradeRequest {
  /** The request as text. */
  readonly text: string;
  /**
   * Reads the answer. Returns the number of bytes of its head, or undefined while the head is not complete.
   * Throws what `upgradeError` returns, or `handshake-failed`.
   */
  readAnswer(data: Buffer): number | undefined;
}

export function createUpgradeRequest(url: string): UpgradeRequest {
  const { host, pathname, search } = new URL(url);
  const key = randomBytes(16).toString('base64');
  const accept = createHash('sha1')
    .update(key + acceptSuffix)
    .digest('base64');
  const lines = [
    `GET ${pathname}${search} HTTP/1.1`,
    `Host: ${host}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Key: ${key}`,
    'Sec-WebSocket-Version: 13',
    '\r\n',
  ];
  return {
    text: lines.join('\r\n'),
    readAnswer(data) {
      const end = data.indexOf('\r\n\r\n');
      if (end < 0 && data.length <= maxHeadBytes) return undefined;
      const headBytes = end + 4;
      const answer = readHead(data.toString('latin1', 0, Math.max(0, end)));
      if (answer === undefined) {
        throw new VoicectlError('handshake-failed', `${host} did not answer the WebSocket handshake in HTTP`);
      }
      if (answer.status !== 101) {
        const body = data.toString('utf8', headBytes);
        throw upgradeError({ ...answer, body }, url, readError(parseJson(body)));
      }
      if (headerValue(answer.headers, 'sec-websocket-accept') !== accept) {
        throw new VoicectlError(
          'handshake-failed',
          `${host} answered the WebSocket handshake with a wrong key`,
        );
      }
      return headBytes;
    },
  };
}

function readHead(text: string): HttpAnswer | undefined {
  const [first = '', ...lines] = text.split('\r\n');
  const [, status] = /^HTTP\/1\.1 (\d{3})(?: |$)/.exec(first) ?? [];
  if (status === undefined) return undefined;
  const headers = lines.flatMap((line): Header[] => {
    const colon = line.indexOf(':');
    return colon <= 0 ? [] : [[line.slice(0, colon).trim(), line.slice(colon + 1).trim()]];
  });
  return { status: Number(status), headers, body: '', firstByteMs: 0 };
}

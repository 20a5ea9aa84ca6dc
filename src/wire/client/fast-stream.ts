import { createHash, randomBytes } from 'node:crypto';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ClockTimer } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { closeCodes, streamCloseMs } from '../../protocol/close-codes.ts';
import { readError } from '../../protocol/error-body.ts';
import { parseJson } from '../../protocol/parse-json.ts';
import { endpointOf } from '../addresses.ts';
import type { Header, HttpAnswer } from '../exchange.ts';
import { headerValue } from '../headers.ts';
import { connectionError } from './connection-error.ts';
import { clientFrame, closeFrame, FrameReader, opcodes } from './frames.ts';
import type { ClientLeg } from './http.ts';
import { upgradeError } from './refusal-error.ts';

export interface FastStreamTarget extends Pick<ClientLeg, 'ca' | 'clock'> {
  /** `ws:` or `wss:`, with its path. */
  url: string;
}

export interface FastStreamHandlers {
  /** The upgrade was accepted. `at` is the clock's time when the data was read, here and below. */
  onOpen(at: number): void;
  onText(text: string, at: number): void;
  /** A message of AI audio, or a part of one. Its content is the `payload` of the stream. */
  onAudio(bytes: number, at: number): void;
  /** Called once, when the connection has ended or could not be opened. Nothing is thrown. */
  onEnd(end: FastStreamEnd): void;
}

export interface FastStreamEnd {
  /** 1005: a close frame without a code; 1006: no close frame. */
  code: number;
  reason: string;
  /** What failed, if it was more than a close. */
  failure: VoicectlError | undefined;
}

/** All connections read into this buffer: what was read is handled immediately. */
const received = Buffer.allocUnsafeSlow(256 * 1024);

/**
 * Opens voice streams with as little work as possible: a plain socket, frames made in advance, and received frames read in
 * place. For generators of load, which must take less time than the service. Everything else uses `connect`.
 */
export function createFastDialer(target: FastStreamTarget) {
  const upgrade = createUpgradeRequest(target.url);
  return (handlers: FastStreamHandlers) => new FastStream(target, upgrade, handlers);
}

/** A WebSocket to a voice stream, without a queue of its own: `send` writes to the socket. */
export class FastStream {
  readonly #target: FastStreamTarget;
  readonly #upgrade: UpgradeRequest;
  readonly #handlers: FastStreamHandlers;
  readonly #socket: Socket;
  readonly #reader: FrameReader;
  #head: Buffer | undefined = Buffer.alloc(0);
  #at = 0;
  #code: number = closeCodes.abnormal;
  #reason = '';
  #failure: VoicectlError | undefined;
  #closing: ClockTimer | undefined;
  #isOver = false;

  constructor(target: FastStreamTarget, upgrade: UpgradeRequest, handlers: FastStreamHandlers) {
    this.#target = target;
    this.#upgrade = upgrade;
    this.#handlers = handlers;
    this.#reader = new FrameReader({
      binary: (bytes) => handlers.onAudio(bytes, this.#at),
      text: (payload) => handlers.onText(payload.toString(), this.#at),
      ping: (payload) => this.send(clientFrame(opcodes.pong, payload)),
      close: (payload) => this.#receiveClose(payload),
      violation: (text) => this.#fail(new VoicectlError('protocol-violation', text)),
    });
    this.#socket = this.#connect();
  }

  /** The content of the audio that `onAudio` reports: a view that is valid only during that call. */
  get payload(): Buffer {
    return this.#reader.payload;
  }

  /** Bytes that wait in this process because the service does not read. */
  get waitingBytes(): number {
    return this.#socket.writableLength;
  }

  /** Sends a frame. It must not change until the socket has taken it. */
  send(frame: Buffer): void {
    if (!this.#isOver) this.#socket.write(frame);
  }

  sendText(text: string): void {
    this.send(clientFrame(opcodes.text, Buffer.from(text)));
  }

  /** Sends a close frame with 1000, and waits up to `streamCloseMs` for the close frame of the service. */
  close(): void {
    if (this.#isOver || this.#closing !== undefined) return;
    if (this.#head !== undefined) {
      this.cut();
      return;
    }
    this.send(closeFrame(closeCodes.normal));
    this.#closing = this.#target.clock.after(streamCloseMs, () => this.#socket.destroy());
  }

  /** Ends the connection without a close frame. */
  cut(): void {
    this.#socket.destroy();
  }

  #connect(): Socket {
    const { url, ca } = this.#target;
    const { isTls, servername, ...address } = endpointOf(url);
    const options = {
      ...address,
      noDelay: true,
      onread: {
        buffer: received,
        callback: (bytes: number) => {
          this.#receive(bytes);
          return true;
        },
      },
    };
    const socket = isTls ? connectTls({ ...options, servername, ca }) : connectTcp(options);
    socket.once(isTls ? 'secureConnect' : 'connect', () => socket.write(this.#upgrade.text));
    socket.on('error', (thrown) => {
      this.#failure ??= this.#head === undefined ? undefined : connectionError(thrown, new URL(url).host);
    });
    socket.on('end', () => socket.destroy());
    socket.once('close', () => this.#end());
    return socket;
  }

  /** Takes what was read into `received`. */
  #receive(length: number): void {
    if (this.#isOver) return;
    this.#at = this.#target.clock.now();
    if (this.#head === undefined) {
      this.#reader.push(received, length);
      return;
    }
    const head = Buffer.concat([this.#head, received.subarray(0, length)]);
    this.#head = head;
    try {
      const headBytes = this.#upgrade.readAnswer(head);
      if (headBytes === undefined) return;
      this.#head = undefined;
      this.#handlers.onOpen(this.#at);
      this.#reader.push(head.subarray(headBytes));
    } catch (thrown) {
      this.#fail(thrown as VoicectlError);
    }
  }

  #receiveClose(payload: Buffer): void {
    this.#code = payload.length >= 2 ? payload.readUInt16BE() : closeCodes.noStatus;
    this.#reason = payload.toString('utf8', 2);
    if (this.#closing === undefined) this.send(clientFrame(opcodes.close, payload.subarray(0, 2)));
    this.#socket.end();
    // The service closes the connection first; if it does not, it is cut.
    this.#closing ??= this.#target.clock.after(streamCloseMs, () => this.#socket.destroy());
  }

  #fail(failure: VoicectlError): void {
    this.#failure ??= failure;
    this.#socket.destroy();
  }

  #end(): void {
    this.#isOver = true;
    this.#closing?.cancel();
    this.#handlers.onEnd({
      code: this.#code,
      reason: this.#reason,
      failure: this.#failure,
    });
  }
}

/** A server appends this to the key of the client (RFC 6455, section 1.3). */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const maxHeadBytes = 16 * 1024;

/** The opening handshake of a WebSocket, made once for many connections to one address. */
interface UpgradeRequest {
  /** The request as text. */
  readonly text: string;
  /**
   * Reads the answer. Returns the number of bytes of its head, or undefined while the head is not complete.
   * Throws what `upgradeError` returns, or `handshake-failed`.
   */
  readAnswer(data: Buffer): number | undefined;
}

function createUpgradeRequest(url: string): UpgradeRequest {
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
        throw new VoicectlError(
          'handshake-failed',
          `${host} answered the WebSocket handshake, but not in HTTP`,
        );
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

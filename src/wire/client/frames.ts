import { randomBytes } from 'node:crypto';
import { JoinedBytes } from '../../kernel/joined-bytes.ts';

/** Opcodes of RFC 6455, section 5.2. */
export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/**
 * One mask for all frames of this process: the same frame can be made once and sent on many streams. Masks protect
 * proxies from chosen content (RFC 6455, section 10.3), and here no other party chooses the content.
 */
const mask = randomBytes(4);

/** A masked, final frame as a client sends it. Throws `RangeError` for a payload of 64 KiB or more. */
export function clientFrame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  if (length > 0xffff) throw new RangeError(`a frame of ${length} bytes`);
  const headBytes = length < 126 ? 2 : 4;
  const frame = Buffer.alloc(headBytes + mask.length + length);
  frame[0] = 0x80 | opcode;
  frame[1] = 0x80 | (length < 126 ? length : 126);
  if (length >= 126) frame.writeUInt16BE(length, 2);
  mask.copy(frame, headBytes);
  for (let at = 0; at < length; at += 1)
    frame[headBytes + mask.length + at] = (payload[at] ?? 0) ^ (mask[at % 4] ?? 0);
  return frame;
}

/** A close frame with a code. */
export function closeFrame(code: number): Buffer {
  const payload = Buffer.alloc(2);
  payload.writeUInt16BE(code);
  return clientFrame(opcodes.close, payload);
}

/** Takes what a frame reader finds. Payloads are views that are valid only during the call. */
export interface FrameHandlers {
  /** `bytes`: the length, which is all that most readers of audio need. Others read `payload`. */
  binary(bytes: number): void;
  text(payload: Buffer): void;
  ping(payload: Buffer): void;
  close(payload: Buffer): void;
  /** A sentence about what is not accepted; nothing further is read. */
  violation(text: string): void;
}

const nothing = Buffer.alloc(0);

/**
 * Reads the frames of a service (RFC 6455, section 5) from pieces of any size, without a copy if a piece has the whole
 * frame. Parts of a binary message are passed on one by one, since audio does not depend on them. Text is joined.
 */
export class FrameReader {
  readonly #handlers: FrameHandlers;
  /** The beginning of a frame that has not arrived whole. */
  readonly #rest = new JoinedBytes();
  /** How long that frame is; 0 before its length is known. */
  #neededBytes = 0;
  #isText = false;
  #isOpen = false;
  /** The parts of a text of which the last one has not arrived. */
  readonly #text = new JoinedBytes();
  #isOver = false;
  #data: Buffer = nothing;
  #from = 0;
  #until = 0;

  constructor(handlers: FrameHandlers) {
    this.#handlers = handlers;
  }

  /** The payload of the frame that is being passed on: a view that is valid only during the call. */
  get payload(): Buffer {
    return this.#data.subarray(this.#from, this.#until);
  }

  /** Takes the next piece: the first `length` bytes, which may be overwritten after the call. */
  push(bytes: Buffer, length = bytes.length): void {
    if (this.#isOver) return;
    if (this.#rest.length === 0) {
      this.#readAll(bytes, length);
      return;
    }
    this.#rest.add(bytes.subarray(0, length));
    if (this.#rest.length >= this.#neededBytes) this.#readAll(this.#rest.take());
  }

  #readAll(data: Buffer, length = data.length): void {
    this.#data = data;
    this.#neededBytes = 0;
    const used = this.#readFrames(data, length);
    if (used < length) this.#rest.add(data.subarray(used, length));
  }

  /** Nothing is allocated for a whole frame of audio. Returns how many bytes were read. */
  #readFrames(data: Buffer, end: number): number {
    let at = 0;
    while (!this.#isOver && end - at >= 2) {
      const second = data[at + 1] ?? 0;
      let length = second & 0x7f;
      let head = 2;
      if (length === 126) {
        if (end - at < 4) break;
        length = data.readUInt16BE(at + 2);
        head = 4;
      } else if (length === 127) {
        if (end - at < 10) break;
        length = Number(data.readBigUInt64BE(at + 2));
        head = 10;
      }
      const first = data[at] ?? 0;
      const what = faultOf(first, second, length);
      if (what !== undefined || length > maxMessageBytes) {
        this.#violate(what);
        return end;
      }
      if (end - at < head + length) {
        this.#neededBytes = head + length;
        break;
      }
      this.#from = at + head;
      at = this.#from + length;
      this.#until = at;
      this.#endFrame(first);
    }
    return at;
  }

  #endFrame(first: number): void {
    const opcode = first & 0x0f;
    const isFinal = (first & 0x80) !== 0;
    switch (opcode) {
      case opcodes.binary:
      case opcodes.text:
      case opcodes.continuation:
        this.#endPart(opcode, isFinal);
        break;
      case opcodes.ping:
        this.#handlers.ping(this.payload);
        break;
      case opcodes.close:
        this.#handlers.close(this.payload);
        break;
    }
  }

  #endPart(opcode: number, isFinal: boolean): void {
    const isNext = opcode === opcodes.continuation;
    if (isNext !== this.#isOpen) {
      this.#violate(isNext ? 'a continuation without a beginning' : 'a message within a message');
      return;
    }
    if (!isNext) this.#isText = opcode === opcodes.text;
    this.#isOpen = !isFinal;
    if (!this.#isText) {
      this.#handlers.binary(this.#until - this.#from);
      return;
    }
    const { payload } = this;
    if (this.#text.length + payload.length > maxMessageBytes) {
      this.#violate();
    } else if (isFinal && this.#text.length === 0) {
      this.#handlers.text(payload);
    } else {
      this.#text.add(payload);
      if (isFinal) this.#handlers.text(this.#text.take());
    }
  }

  /** `what` the service sent. Default: too much. */
  #violate(what?: string): void {
    this.#isOver = true;
    this.#handlers.violation(what === undefined ? tooLongText : `The service sent ${what}`);
  }
}

function faultOf(first: number, second: number, length: number): string | undefined {
  const opcode = first & 0x0f;
  const isControl = opcode >= opcodes.close;
  if ((first & 0x70) !== 0) return 'a frame with reserved bits set';
  if ((second & 0x80) !== 0) return 'a masked frame';
  if (opcode > opcodes.pong || (opcode > opcodes.binary && !isControl)) return `the unknown opcode ${opcode}`;
  if (isControl && (length > 125 || (first & 0x80) === 0)) return 'a bad control frame';
  return undefined;
}

/** The longest message that is read from a service, in bytes. The limit is ours: the specification has none. */
export const maxMessageBytes = 16 * 1024 * 1024;

export const tooLongText = `A message from the service is longer than ${maxMessageBytes / 1024 / 1024} MiB, which is voicectl’s limit`;

import { opcodes } from './client-frame.ts';

/** Takes what a frame reader finds. Payloads are views that are valid only during the call. */
export interface FrameHandlers {
  binary(payload: Buffer): void;
  text(payload: Buffer): void;
  ping(payload: Buffer): void;
  close(payload: Buffer): void;
  /** The peer broke the WebSocket protocol; nothing further is read. */
  violation(why: string): void;
}

/** A longer message, or part of one, is a violation. */
const maxPayloadBytes = 16 * 1024 * 1024;
const nothing = Buffer.alloc(0);

/**
 * Reads the frames of a service (RFC 6455, section 5) from pieces of any size, in place where a frame is whole in a
 * piece. Parts of a binary message are passed on one by one: audio has no borders. Text is joined.
 */
export class FrameReader {
  readonly #handlers: FrameHandlers;
  #rest: Buffer = nothing;
  #isText = false;
  #isOpen = false;
  #text: Buffer = nothing;
  #isOver = false;

  constructor(handlers: FrameHandlers) {
    this.#handlers = handlers;
  }

  /** Takes the next piece; `bytes` may be overwritten after the call. */
  push(bytes: Buffer): void {
    if (this.#isOver) return;
    const data = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const used = this.#readFrames(data);
    this.#rest = used === data.length ? nothing : Buffer.from(data.subarray(used));
  }

  #readFrames(data: Buffer): number {
    let at = 0;
    while (!this.#isOver && data.length - at >= 2) {
      const second = data[at + 1] ?? 0;
      let length = second & 0x7f;
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
      const first = data[at] ?? 0;
      const why = faultOf(first, second, length);
      if (why !== undefined) {
        this.#violate(why);
        return data.length;
      }
      if (data.length - at < head + length) break;
      this.#take(first, data.subarray(at + head, at + head + length));
      at += head + length;
    }
    return at;
  }

  #take(first: number, payload: Buffer): void {
    const opcode = first & 0x0f;
    const isFinal = (first & 0x80) !== 0;
    switch (opcode) {
      case opcodes.binary:
      case opcodes.text:
      case opcodes.continuation:
        this.#takePart(opcode, isFinal, payload);
        break;
      case opcodes.ping:
        this.#handlers.ping(payload);
        break;
      case opcodes.close:
        this.#handlers.close(payload);
        break;
    }
  }

  #takePart(opcode: number, isFinal: boolean, payload: Buffer): void {
    const isNext = opcode === opcodes.continuation;
    if (isNext !== this.#isOpen) {
      this.#violate(isNext ? 'a continuation of nothing' : 'a message within a message');
      return;
    }
    if (!isNext) this.#isText = opcode === opcodes.text;
    this.#isOpen = !isFinal;
    if (!this.#isText) {
      this.#handlers.binary(payload);
      return;
    }
    const text = this.#text.length === 0 ? payload : Buffer.concat([this.#text, payload]);
    this.#text = nothing;
    if (isFinal) this.#handlers.text(text);
    else if (text.length > maxPayloadBytes) this.#violate('a message that is too long');
    else this.#text = Buffer.from(text);
  }

  #violate(why: string): void {
    this.#isOver = true;
    this.#handlers.violation(why);
  }
}

function faultOf(first: number, second: number, length: number): string | undefined {
  const opcode = first & 0x0f;
  const isControl = opcode >= opcodes.close;
  if ((first & 0x70) !== 0) return 'reserved bits are set';
  if ((second & 0x80) !== 0) return 'a masked frame';
  if (length > maxPayloadBytes) return 'a frame that is too long';
  if (opcode > opcodes.pong || (opcode > opcodes.binary && !isControl)) return `the unknown opcode ${opcode}`;
  if (isControl && (length > 125 || (first & 0x80) === 0)) return 'a bad control frame';
  return undefined;
}

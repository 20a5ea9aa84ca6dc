import { randomBytes } from 'node:crypto';

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

/** A whole binary message, in RFC 6455's first byte: final fragment, opcode 2. */
const binaryMessage = 0x82;
/** The lengths that do not fit into 7 bits are announced by these, and follow in 16 or 64 bits. */
const length16 = 126;
const length64 = 127;

/**
 * PCM as the one WebSocket frame that a server sends it in (RFC 6455, section 5.2), header and payload in one
 * buffer: one write in place of the two that the library makes of it, and nothing else is made on the way.
 */
export function frameAudio(pcm: Buffer): Buffer {
  const { length } = pcm;
  const headBytes = length < length16 ? 2 : length <= 0xffff ? 4 : 10;
  const frame = Buffer.allocUnsafe(headBytes + length);
  frame[0] = binaryMessage;
  if (headBytes === 2) {
    frame[1] = length;
  } else if (headBytes === 4) {
    frame[1] = length16;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = length64;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.set(pcm, headBytes);
  return frame;
}

const mask = Buffer.from([0x5a, 0xa7, 0x3c, 0x11]);
const scratch = Buffer.alloc(8);

/**
 * A masked WebSocket frame, as a client sends it.
 *
 * @param {number} opcode
 * @param {Buffer} payload
 */
export function clientFrame(opcode, payload) {
  const { length } = payload;
  if (length > 0xffff) throw new RangeError(`no frame of ${length} bytes here`);
  const head = length < 126 ? Buffer.from([0x80 | opcode, 0x80 | length]) : Buffer.alloc(4);
  if (length >= 126) {
    head[0] = 0x80 | opcode;
    head[1] = 0x80 | 126;
    head.writeUInt16BE(length, 2);
  }
  const masked = payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0));
  return Buffer.concat([head, mask, masked]);
}

/**
 * Puts a time into the first 8 bytes of the payload of a frame, whose length is `payloadBytes`.
 *
 * @param {Buffer} frame
 * @param {number} payloadBytes
 * @param {number} time
 */
export function stampFrame(frame, payloadBytes, time) {
  scratch.writeDoubleLE(time);
  const start = frame.length - payloadBytes;
  for (let at = 0; at < 8; at += 1) frame[start + at] = (scratch[at] ?? 0) ^ (mask[at % 4] ?? 0);
}

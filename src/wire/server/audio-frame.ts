/** A whole binary message, in RFC 6455's first byte: final fragment, opcode 2. */
const binaryMessage = 0x82;
/** Markers for lengths that do not fit into 7 bits: the length follows in 16 or 64 bits. */
const length16 = 126;
const length64 = 127;
/** Maximum number of headers that are cached: streams send messages of one length, or a few. */
const maxLengths = 64;

/**
 * Headers of binary messages, as a server sends them (RFC 6455, section 5.2), by the length of the payload. One header
 * serves all messages of its length, so that sending creates and copies nothing.
 */
export function createAudioHeaders(): (length: number) => Buffer {
  const made = new Map<number, Buffer>();
  return (length) => {
    const known = made.get(length);
    if (known !== undefined) return known;
    const header = makeHeader(length);
    if (made.size < maxLengths) made.set(length, header);
    return header;
  };
}

function makeHeader(length: number): Buffer {
  if (length < length16) return Buffer.from([binaryMessage, length]);
  if (length <= 0xffff) return Buffer.from([binaryMessage, length16, length >> 8, length & 0xff]);
  const header = Buffer.alloc(10);
  header[0] = binaryMessage;
  header[1] = length64;
  header.writeBigUInt64BE(BigInt(length), 2);
  return header;
}

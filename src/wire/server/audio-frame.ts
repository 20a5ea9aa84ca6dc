/** A whole binary message, in RFC 6455's first byte: final fragment, opcode 2. */
const binaryMessage = 0x82;
/** The lengths that do not fit into 7 bits are announced by these, and follow in 16 or 64 bits. */
const length16 = 126;
const length64 = 127;
/** Lengths whose header is remembered: streams send messages of one length, or of a few. */
const maxLengths = 64;

/**
 * Headers of binary messages, as a server sends them (RFC 6455, section 5.2), by the length of the payload. One header
 * serves all messages of its length: nothing is made, and nothing copied, on the way of a message.
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

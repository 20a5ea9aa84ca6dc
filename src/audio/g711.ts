/** ITU-T G.711: from a byte of A-law or µ-law to a 16-bit sample. */

function expandAlaw(code: number): number {
  const value = code ^ 0x55;
  const exponent = (value >> 4) & 7;
  const mantissa = ((value & 0x0f) << 4) + 8;
  const magnitude = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return value & 0x80 ? magnitude : -magnitude;
}

function expandMulaw(code: number): number {
  const value = ~code & 0xff;
  const magnitude = ((((value & 0x0f) << 3) + 0x84) << ((value >> 4) & 7)) - 0x84;
  return value & 0x80 ? -magnitude : magnitude;
}

/** Samples by A-law code. */
export const alawSamples = Int16Array.from({ length: 256 }, (_, code) => expandAlaw(code));
/** Samples by µ-law code. */
export const mulawSamples = Int16Array.from({ length: 256 }, (_, code) => expandMulaw(code));

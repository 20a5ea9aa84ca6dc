const blockBytes = 512;

/** Files as an uncompressed tar archive (POSIX ustar) with one folder. */
export function tarOf(
  folder: string,
  files: readonly { name: string; bytes: Buffer }[],
  atMs: number,
): Buffer {
  const parts = files.flatMap(({ name, bytes }) => [
    header(`${folder}/${name}`, bytes.length, atMs),
    bytes,
    Buffer.alloc((blockBytes - (bytes.length % blockBytes)) % blockBytes),
  ]);
  return Buffer.concat([...parts, Buffer.alloc(2 * blockBytes)]);
}

/** Offsets and octal numbers of IEEE Std 1003.1, "pax", ustar interchange format. */
function header(name: string, size: number, atMs: number): Buffer {
  const block = Buffer.alloc(blockBytes);
  const octal = (value: number, digits: number, at: number) =>
    block.write(`${value.toString(8).padStart(digits, '0')}\0`, at, 'latin1');
  block.write(name, 0, 100, 'latin1');
  octal(0o600, 7, 100);
  octal(0, 7, 108);
  octal(0, 7, 116);
  octal(size, 11, 124);
  octal(Math.floor(atMs / 1000), 11, 136);
  block.write('        ', 148, 'latin1');
  block.write('0', 156, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

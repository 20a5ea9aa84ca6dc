/** The files of an archive by their names, without the folder. Throws where `tar` would: on a wrong checksum. */
export function readTar(tar: Buffer): Record<string, Buffer> {
  return Object.fromEntries(entriesOf(tar).map(({ name, bytes }) => [name, bytes]));
}

/** Who may read the files of an archive. */
export function modesOf(tar: Buffer): number[] {
  return entriesOf(tar).map(({ mode }) => mode);
}

function entriesOf(tar: Buffer) {
  const entries: { name: string; mode: number; bytes: Buffer }[] = [];
  for (let at = 0; tar[at] !== 0; ) {
    const text = (from: number, length: number) =>
      tar.toString('latin1', at + from, at + from + length).replace(/\0.*/, '');
    const octal = (from: number, length: number) => Number.parseInt(text(from, length), 8);
    const name = text(0, 100).replace(/^.*\//, '');
    // Over the header, with spaces in place of the checksum.
    const header = Buffer.from(tar.subarray(at, at + 512)).fill(' ', 148, 156);
    if (octal(148, 8) !== header.reduce((sum, byte) => sum + byte, 0))
      throw new Error(`The checksum of ${name} is wrong`);
    const size = octal(124, 12);
    entries.push({ name, mode: octal(100, 8), bytes: tar.subarray(at + 512, at + 512 + size) });
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return entries;
}

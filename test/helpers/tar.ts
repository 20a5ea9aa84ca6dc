/** The files of an archive by their names, without the folder. */
export function readTar(tar: Buffer): Record<string, Buffer> {
  const files: Record<string, Buffer> = {};
  for (let at = 0; tar[at] !== 0; ) {
    const text = (from: number, length: number) =>
      tar.toString('latin1', at + from, at + from + length).replace(/\0.*/, '');
    const size = Number.parseInt(text(124, 12), 8);
    files[text(0, 100).replace(/^.*\//, '')] = tar.subarray(at + 512, at + 512 + size);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}

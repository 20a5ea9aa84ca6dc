import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { build } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';
import { createWavFile } from '../../../src/audio/wav/wav-file.ts';
import { loadPcm } from '../../../src/audio/wav/wav-source.ts';
import { hasTools, setUpTempFolder } from '../files.ts';

const files = setUpTempFolder();
const audio = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7) % 251));
const declaredBytes = (path: string) => readFileSync(path).readUInt32LE(40);

describe.skipIf(process.platform === 'win32')('in a separate process', () => {
  const program = files.path('writer.mjs');
  // For each path and number of bytes: writes 100 ms at a time until that is reached, and prints how many bytes were accepted,
  // or why no more. All files stay open until the last is written.
  const contents = `
    import { createWavFile } from './src/audio/wav/wav-file.ts';
    const args = process.argv.slice(2);
    const files = [];
    try {
      for (let at = 0; at < args.length; at += 2) {
        const file = await createWavFile(args[at]);
        files.push(file);
        for (let written = 0; written < Number(args[at + 1]); ) {
          await file.write(Buffer.alloc(3200, 5));
          written += 3200;
          console.error(args[at], written);
        }
      }
      for (const file of files) await file.close();
    } catch (error) {
      console.error(error.code, error.message);
    }`;

  beforeAll(async () => {
    await build({
      stdin: { contents, resolveDir: process.cwd() },
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: program,
    });
  });

  describe('killed', () => {
    const limits = Array.from({ length: 20 }, (_, i) => Math.max(1, i * 9_601));
    const pathOf = (bytes: number) => files.path(`killed-${bytes}.wav`);
    /** How many bytes of each file were accepted before the process was killed. */
    const accepted = new Map<string, number>();

    beforeAll(async () => {
      // While it is killed it writes to the last file.
      const all = [...limits, Number.POSITIVE_INFINITY];
      const child = spawn(process.execPath, [
        program,
        ...all.flatMap((bytes) => [pathOf(bytes), String(bytes)]),
      ]);
      const last = pathOf(Number.POSITIVE_INFINITY);
      for await (const line of createInterface(child.stderr)) {
        const [path = '', bytes] = line.split(' ');
        accepted.set(path, Number(bytes));
        if ((accepted.get(last) ?? 0) > 64_000) child.kill('SIGKILL');
      }
      if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
      expect(child.signalCode).toBe('SIGKILL');
    });

    test.each([...limits, Number.POSITIVE_INFINITY])(
      'after %d bytes it leaves all but the last second',
      async (bytes) => {
        const path = pathOf(bytes);
        const written = accepted.get(path) ?? 0;
        expect(written).toBeGreaterThan(0);
        expect(declaredBytes(path)).toBeGreaterThan(written - 32_000);
        expect(declaredBytes(path)).toBeLessThanOrEqual(statSync(path).size - 44);
        expect(declaredBytes(path) % 2).toBe(0);
        const pcm = await loadPcm(path);
        expect(pcm.length).toBeGreaterThan(written - 32_000);
        expect(pcm.every((byte) => byte === 5)).toBe(true);
      },
    );
  });

  test.skipIf(!hasTools('bash'))(
    'a standard output that is a pipe gets one header for a stream of any length',
    async () => {
      // Through a shell: what Node gives its children for a pipe is a socket, which cannot be opened by path.
      const child = spawn('bash', [
        '-c',
        '"$0" "$@" | cat',
        process.execPath,
        program,
        '/dev/stdout',
        '9600',
      ]);
      const chunks: Buffer[] = [];
      child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
      await once(child, 'close');
      const bytes = Buffer.concat(chunks);
      expect(bytes.length).toBe(44 + 9600);
      expect([bytes.readUInt32LE(4), bytes.readUInt32LE(40)]).toEqual([0xffffffff, 0xffffffff]);
      expect((await loadPcm(files.write(bytes))).length).toBe(9600);
    },
  );

  test.skipIf(!hasTools('bash'))(
    'a file that may not grow is reported, and what was written is valid',
    async () => {
      const path = files.path();
      const limited = 'ulimit -f 100; exec "$0" "$@"';
      const child = spawn('bash', ['-c', limited, process.execPath, program, path, 'Infinity']);
      expect(await text(child.stderr)).toMatch(/input-output Cannot write .*largest allowed size\n$/);
      expect(declaredBytes(path)).toBeGreaterThanOrEqual(64_000);
      expect((await loadPcm(path)).length).toBeGreaterThanOrEqual(64_000);
    },
  );
});

test.skipIf(!hasTools('mkfifo', 'head'))('a reader that goes away is reported', async () => {
  const pipe = files.path('pipe');
  await once(spawn('mkfifo', [pipe]), 'close');
  const reader = spawn('head', ['-c', '44', pipe]);
  const file = await createWavFile(pipe);
  await once(reader, 'close');
  await expect(file.write(audio)).rejects.toMatchObject({
    code: 'input-output',
    message: expect.stringMatching(/nobody is reading/),
  });
  await expect(file.close()).rejects.toMatchObject({ code: 'input-output' });
});

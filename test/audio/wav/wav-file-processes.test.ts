import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { build } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';
import { createWavFile } from '../../../src/audio/wav/wav-file.ts';
import { loadPcm } from '../../../src/audio/wav/wav-source.ts';
import { hasTools, setUpTempFolder } from '../files.ts';

const files = setUpTempFolder();
const audio = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7) % 251));
const declaredBytes = (path: string) => readFileSync(path).readUInt32LE(40);

describe.skipIf(process.platform === 'win32')('in a process of its own', () => {
  const program = files.path('writer.mjs');
  // Writes 100 ms at a time for ever, and prints how many bytes were accepted, or why no more.
  const contents = `
    import { createWavFile } from './src/audio/wav/wav-file.ts';
    const [path, limit] = process.argv.slice(2);
    let written = 0;
    try {
      const file = await createWavFile(path);
      while (written < Number(limit)) {
        await file.write(Buffer.alloc(3200, 5));
        written += 3200;
        console.error(written);
      }
      await file.close();
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

  /** Resolves with the bytes accepted when they are at least `bytes`. */
  const untilWritten = (child: ChildProcess, bytes: number) =>
    new Promise<number>((resolve, reject) => {
      let output = '';
      child.once('exit', () => reject(new Error(`ended early: ${output}`)));
      child.stderr?.on('data', (part: Buffer) => {
        output += part.toString();
        const accepted = Number(output.split('\n').at(-2));
        if (accepted >= bytes) resolve(accepted);
      });
    });

  test.each(Array.from({ length: 20 }, (_, i) => i * 9_601))(
    'killed after %i bytes it leaves all but the last second',
    async (bytes) => {
      const path = files.path();
      const child = spawn(process.execPath, [program, path, 'Infinity']);
      const accepted = await untilWritten(child, Math.max(1, bytes));
      child.kill('SIGKILL');
      await once(child, 'close');
      expect(declaredBytes(path)).toBeGreaterThan(accepted - 32_000);
      expect(declaredBytes(path)).toBeLessThanOrEqual(statSync(path).size - 44);
      expect(declaredBytes(path) % 2).toBe(0);
      const pcm = await loadPcm(path);
      expect(pcm.length).toBeGreaterThan(accepted - 32_000);
      expect(pcm.every((byte) => byte === 5)).toBe(true);
    },
  );

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
    message: expect.stringMatching(/nobody reads/),
  });
  await expect(file.close()).rejects.toMatchObject({ code: 'input-output' });
});

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');

let elsewhere = '';

beforeAll(async () => {
  elsewhere = await mkdtemp(join(tmpdir(), 'voicectl-package-'));
  // The types are part of the package; `prepare` does not run with --ignore-scripts.
  await run('npx', ['tsc', '-p', 'tsconfig.build.json'], { cwd: root });
  const { stdout } = await run(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', elsewhere],
    { cwd: root },
  );
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  await writeFile(join(elsewhere, 'package.json'), '{"private":true,"type":"module"}');
  await run(
    'npm',
    ['install', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', join(elsewhere, filename)],
    { cwd: elsewhere },
  );
}, 120_000);

afterAll(() => rm(elsewhere, { recursive: true, force: true }));

test('the packed package, installed elsewhere without install scripts, streams a file through a whole session', async () => {
  const file = join(root, 'fixtures', 'hello.wav');
  const { stdout } = await run(
    'npx',
    ['voicectl', 'stream', '--file', file, '--local', '--expect-audio', '--json'],
    { cwd: elsewhere },
  );
  const summary = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  expect(summary).toMatchObject({ type: 'summary', ok: true, close: { code: 1000 } });
  expect(summary.in.bytes).toBeGreaterThan(0);
});

test('the installed library starts an emulator', async () => {
  const program = `
    import { createEmulator } from 'voicectl';
    const emulator = await createEmulator();
    const answer = await fetch(emulator.baseUrl + '/api/websocket-voice/token', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ apiKey: 'any', deviceId: 'd1' }),
    });
    console.log(answer.status);
    await emulator.close();
  `;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: elsewhere });
  expect(stdout.trim()).toBe('200');
});

test('the types of the library are complete', async () => {
  await writeFile(
    join(elsewhere, 'use.ts'),
    `import { createEmulator, type EmulatorEvent } from 'voicectl';
     const events: EmulatorEvent[] = [];
     const emulator = await createEmulator({ reply: 'echo', onEvent: (event) => events.push(event) });
     const url: string = emulator.baseUrl;
     // @ts-expect-error: a port is a number
     await createEmulator({ port: url });`,
  );
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  const types = join(root, 'node_modules', '@types');
  const args = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--typeRoots',
    types,
    '--types',
    'node',
    'use.ts',
  ];
  const { stdout } = await run(tsc, args, { cwd: elsewhere }).catch((failed: { stdout: string }) => failed);
  expect(stdout).toBe('');
});

test('the licences of everything in the bundle come with it', async () => {
  const text = await readFile(join(elsewhere, 'node_modules', 'voicectl', 'dist', 'LICENSES.txt'), 'utf8');
  for (const name of ['commander', 'ws', 'undici', 'jose', 'wav', 'zod', 'yaml'])
    expect(text).toContain(`${name} `);
});

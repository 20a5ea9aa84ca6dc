import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { isBuilt } from './helpers/build-once.ts';
import { readExamples } from './helpers/doc-examples.ts';

const execute = promisify(execFile);

/** Runs a program to its end; a failure shows everything that it printed. */
async function run(command: string, args: readonly string[], options: { cwd?: string } = {}) {
  return execute(command, args, options).catch(
    (failed: { stdout: string; stderr: string; message: string }) => {
      throw Object.assign(new Error(`${failed.message}\n${failed.stdout}`), failed);
    },
  );
}
const root = join(import.meta.dirname, '..');
const tsc = join(root, 'node_modules', '.bin', 'tsc');

// Compilers, package managers and test runners, several at a time.
vi.setConfig({ testTimeout: 120_000 });

let elsewhere = '';

beforeAll(async () => {
  elsewhere = await mkdtemp(join(tmpdir(), 'voicectl-package-'));
  // The types are part of the package; no script of the package runs with --ignore-scripts.
  if (!isBuilt('types/index.d.ts')) await run('npm', ['run', 'build:types'], { cwd: root });
  await writeFile(join(elsewhere, 'package.json'), '{"private":true,"type":"module"}');
  // With --install-links npm packs the folder, and installs what it has packed.
  const flags = ['--install-links', '--ignore-scripts', '--omit=optional', '--prefer-offline'];
  await run('npm', ['install', ...flags, '--no-audit', '--no-fund', root], { cwd: elsewhere });
  await cp(join(elsewhere, 'node_modules', 'voicectl', 'fixtures'), join(elsewhere, 'fixtures'), {
    recursive: true,
  });
}, 120_000);

afterAll(() => rm(elsewhere, { recursive: true, force: true }));

/** What the compiler reports about files in the folder. */
async function checkTypes(module: 'node16' | 'nodenext', ...files: string[]): Promise<string> {
  // Only the types of Node and of the language: the library must bring everything else that it needs.
  const types = join(elsewhere, 'node_modules', '@types');
  await mkdir(types, { recursive: true });
  await symlink(join(root, 'node_modules', '@types', 'node'), join(types, 'node')).catch(() => {});
  const settings = ['--noEmit', '--singleThreaded', '--strict', '--module', module, '--target', 'es2023'];
  const known = ['--lib', 'es2023', '--skipDefaultLibCheck', '--typeRoots', types, '--types', 'node'];
  const args = [...settings, ...known, ...files];
  const { stdout } = await run(tsc, args, { cwd: elsewhere }).catch((failed: { stdout: string }) => failed);
  return stdout;
}

describe('installed alone', () => {
  test.concurrent('the packed package, installed elsewhere without install scripts, streams a file through a complete session', async () => {
    const file = join(root, 'fixtures', 'hello.wav');
    const program = join(elsewhere, 'node_modules', '.bin', 'voicectl');
    const args = ['stream', '--file', file, '--local', '--expect-audio', '--json'];
    const { stdout } = await run(program, args, { cwd: elsewhere });
    const summary = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect(summary).toMatchObject({ type: 'summary', ok: true, close: { code: 1000 } });
    expect(summary.in.bytes).toBeGreaterThan(0);
  });

  test.concurrent('CommonJS reaches the library by require(), also in Node 20 and in Jest, which cannot require ES modules, and by import()', async () => {
    const program = `
      const startsWithTls = async ({ createEmulator }) => {
        const emulator = await createEmulator({ tls: true });
        console.log(new URL(emulator.baseUrl).protocol);
        await emulator.close();
      };
      startsWithTls(require('voicectl')).then(() => import('voicectl')).then(startsWithTls);`;
    const flags = ['--no-experimental-require-module', '--input-type=commonjs'];
    const { stdout } = await run(process.execPath, [...flags, '-e', program], { cwd: elsewhere });
    expect(stdout.trim().split('\n')).toEqual(['https:', 'https:']);
  });
});

describe('beside packages that its users have installed', () => {
  beforeAll(async () => {
    for (const name of ['vitest', 'ws'])
      await symlink(join(root, 'node_modules', name), join(elsewhere, 'node_modules', name));
  });

  test.concurrent('the test examples run where they are copied to, with one line for the emulator', async () => {
    const example = await readFile(join(root, 'examples', 'doorbell.test.js'), 'utf8');
    expect(example.trim().split('\n').length).toBeLessThan(15);
    await cp(join(root, 'examples'), join(elsewhere, 'examples'), { recursive: true });
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const args = [
      vitest,
      'run',
      '--root',
      elsewhere,
      '--testTimeout',
      '60000',
      // One worker for both.
      '--no-isolate',
      '--maxWorkers',
      '1',
      '--reporter',
      'json',
      'examples/doorbell.test.js',
      'examples/said.test.js',
    ];
    const { stdout } = await run(process.execPath, args, { cwd: elsewhere });
    expect(JSON.parse(stdout)).toMatchObject({ success: true, numPassedTests: 2, numTotalTests: 2 });
  });
});

describe('the API documentation', async () => {
  const examples = readExamples(await readFile(join(root, 'docs', 'API.md'), 'utf8'));
  const programs = examples.filter(({ language }) => language === 'ts');
  const [inVitest, withGlobals, withHooks] = examples.filter(({ heading }) => heading === 'Tests of an app');
  const said = examples.find(
    ({ heading, language }) => heading === 'What a device said' && language === 'js',
  );
  const [reply] = examples.filter(({ heading }) => heading.startsWith('A reply'));
  const node = (...args: string[]) => run(process.execPath, args, { cwd: elsewhere });

  test.concurrent('has an example for each thing', () => {
    expect(programs.map(({ heading }) => heading)).toEqual([
      'An emulator',
      'Control',
      'Control',
      'Events',
      'A session as a client',
      'What a device said',
      'TLS',
      'Errors',
    ]);
    for (const { prints } of programs) expect(prints).not.toEqual([]);
    const known = [...programs, inVitest, withGlobals, withHooks, said, reply];
    expect(examples.filter((one) => one.language !== 'sh' && !known.includes(one))).toEqual([]);
  });

  /** What each example prints: one process runs them all, one after the other. */
  const runExamples = async () => {
    for (const [index, { code }] of programs.entries()) {
      // Without `using`, which Node has since version 24.
      const { code: program } = await transform(code, { loader: 'ts', format: 'esm', target: 'node20' });
      await writeFile(join(elsewhere, `example-${index}.mjs`), program);
    }
    const lines = programs.map((_, index) => `await import('./example-${index}.mjs'); console.log('END');`);
    await writeFile(join(elsewhere, 'reply.mjs'), reply?.code ?? '');
    const usesReply = `
      import { createEmulator, openSession } from 'voicectl';
      const { baseUrl, close } = await createEmulator({ reply: 'module:reply.mjs' });
      const session = await openSession({ baseUrl, device: 'd1', apiKey: 'any' });
      for await (const event of session) if (event.kind === 'greeting') break;
      console.log('greeted');
      await close();`;
    await writeFile(join(elsewhere, 'examples.mjs'), `${lines.join('\n')}\n${usesReply}`);
    const { stdout, stderr } = await node('examples.mjs');
    return { stderr, printed: stdout.split('END\n').map((text) => text.trim().split('\n')) };
  };
  let running: ReturnType<typeof runExamples> | undefined;

  test.concurrent.each(programs.map((example, index) => ({ ...example, index })))(
    'shows what its example $index prints: $heading',
    async ({ prints, index }) => {
      running ??= runExamples();
      const { stderr, printed } = await running;
      expect({ stderr, lines: printed[index] }).toEqual({ stderr: '', lines: prints });
    },
  );

  test.concurrent('has a reply that works', async () => {
    running ??= runExamples();
    const { printed } = await running;
    expect(printed.at(-1)).toEqual(['greeted']);
  });

  test.concurrent('has examples of the right types, and the types of the library are complete', async () => {
    await writeFile(
      join(elsewhere, 'use.ts'),
      `import { type ClientEvent, createEmulator, type EmulatorEvent, openSession } from 'voicectl';
     import { setUpEmulator } from 'voicectl/testing';
     import { expect } from 'vitest';
     import { setUpEmulator as inVitest } from 'voicectl/vitest';
     const events: EmulatorEvent[] = [];
     await using emulator = await createEmulator({ reply: 'echo', onEvent: (event) => events.push(event) });
     const url: string = emulator.baseUrl;
     // @ts-expect-error: a port is a number
     await createEmulator({ port: url });
     const turn: { turnMs: number } = await emulator.waitFor('turn-ended', ({ device }) => device === 'd1');
     // @ts-expect-error: there is no such event
     emulator.on('turn', () => {});
     await using session = await openSession({ baseUrl: url, device: 'd1', apiKey: 'any', ca: emulator.certificate });
     for await (const event of session) {
       const known: ClientEvent = event;
       if (event.type === 'audio') await session.send(event.pcm);
       else if (event.type === 'message') console.log(event.kind?.length, event.error?.code, known, turn.turnMs);
     }
     // @ts-expect-error: a key or a token
     await openSession({ baseUrl: url, device: 'd1' });
     const port: number = setUpEmulator({ tls: true }, { before() {}, afterEach() {}, after() {} }).port;
     console.log(port, inVitest().wsUrl);
     const said: { durationMs: number; wav: Buffer } = emulator.stream({ device: 'd1' }).audio();
     await expect(said).toHaveSaid('hello.wav', { similarity: 0.9 });
     // @ts-expect-error: a length in milliseconds
     await expect(said).toHaveDuration('2s');`,
    );
    // The same from CommonJS, as ts-jest compiles it.
    await writeFile(
      join(elsewhere, 'use.cts'),
      `import { createEmulator } from 'voicectl';
     import { setUpEmulator } from 'voicectl/testing';
     const emulator: Promise<{ baseUrl: string }> = createEmulator(setUpEmulator() && {});
     console.log(emulator);`,
    );
    const files = programs.map((_program, index) => `example-${index}.ts`);
    await Promise.all(programs.map(({ code }, index) => writeFile(join(elsewhere, files[index]!), code)));
    // Most of the compiler's time goes to the types of Node.
    expect(await checkTypes('nodenext', 'use.ts', 'use.cts', ...files)).toBe('');
    // Here CommonJS may not require a module: its declarations must say that they are CommonJS.
    expect(await checkTypes('node16', 'use.cts')).toBe('');
  });

  test.concurrent('is shipped, with every other page and picture of docs/', async () => {
    const shipped = await readdir(join(elsewhere, 'node_modules', 'voicectl', 'docs'));
    const written = await readdir(join(root, 'docs'));
    expect(shipped.toSorted()).toEqual(written.filter((name) => /\.(md|svg|png)$/.test(name)).toSorted());
  });

  test.concurrent('shows the test example unchanged, and so does the README', async () => {
    const example = await readFile(join(root, 'examples', 'doorbell.test.js'), 'utf8');
    expect(inVitest?.code).toBe(example);
    expect(said?.code).toBe(await readFile(join(root, 'examples', 'said.test.js'), 'utf8'));
    expect(await readFile(join(root, 'README.md'), 'utf8')).toContain(`\`\`\`js\n${example}\`\`\`\n`);
  });

  test.concurrent('shows how the helper is used with global hooks, and with those of node:test; it works with require() too', async () => {
    const hears = `
      import assert from 'node:assert';
      import { test } from 'node:test';
      import { openSession } from 'voicectl';
      test('hears an echo', async () => {
        const session = await openSession({ baseUrl: emulator.baseUrl, device: 'd1', apiKey: 'any' });
        await session.send(Buffer.alloc(640, 1));
        for await (const event of session) if (event.type === 'audio') return assert.equal(event.pcm.length, 640);
      });`;
    const files = {
      'required.cjs': `
        const hooks = require('node:test');
        const { setUpEmulator } = require('voicectl/testing');
        const emulator = setUpEmulator({ reply: 'echo' }, hooks);
        hooks.test('answers', () => fetch(emulator.baseUrl));`,
      'given-hooks.mjs': withHooks?.code + hears,
      'globals.mjs': `import * as hooks from 'node:test'; Object.assign(globalThis, hooks);`,
      'global-hooks.mjs': withGlobals?.code + hears,
    };
    for (const [name, code] of Object.entries(files)) await writeFile(join(elsewhere, name), code);
    // One process for all three. Nothing is global before the third.
    const all = Object.keys(files).map((name) => `import './${name}';`);
    await writeFile(join(elsewhere, 'hooks.mjs'), all.join('\n'));
    // `node --test` would start another process.
    const { stdout } = await node('--test-reporter', 'tap', 'hooks.mjs');
    expect(stdout).toMatch(/^# pass 3$/m);
  });
});

test('installing it runs no script of the package, which npm would warn about', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare'])
    expect(scripts).not.toHaveProperty(name);
});

test('an installation from git without install scripts says what is missing', async () => {
  const unbuilt = join(elsewhere, 'unbuilt');
  await cp(join(root, 'bin'), join(unbuilt, 'bin'), { recursive: true });
  await writeFile(join(unbuilt, 'package.json'), '{"type":"module"}');
  const ended = run(process.execPath, [join(unbuilt, 'bin', 'voicectl.js'), '--version']);
  await expect(ended).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('from a tarball') });
});

test('nothing is installed beside it but the echo canceller: what is bundled is not installed again', async () => {
  const modules = join(elsewhere, 'node_modules');
  const { packages } = JSON.parse(await readFile(join(modules, '.package-lock.json'), 'utf8')) as {
    packages: Record<string, unknown>;
  };
  expect(Object.keys(packages)).toEqual(['node_modules/@ennuicastr/webrtcaec3.js', 'node_modules/voicectl']);
  let bytes = 0;
  for (const name of Object.keys(packages))
    for (const entry of await readdir(join(elsewhere, name), { recursive: true, withFileTypes: true }))
      if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  // npm pack removes white space from the program (npm run build does not): 4 MB less.
  expect(bytes).toBeLessThan(15e6);
});

test('the package includes the licences of everything in the bundle', async () => {
  const text = await readFile(join(elsewhere, 'node_modules', 'voicectl', 'dist', 'LICENSES.txt'), 'utf8');
  for (const name of ['commander', 'ws', 'undici', 'jose', 'wav', 'zod', 'yaml'])
    expect(text).toContain(`${name} `);
});

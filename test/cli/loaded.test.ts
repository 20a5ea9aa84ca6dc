import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { fixture, program, type RunOptions, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();

/** Prints, as the process ends, which of Node's own modules were loaded. */
const tellBuiltins = `process.on('exit', () => process.stderr.write('BUILTINS ' + process.moduleLoadList.join() + '\\n'))`;

/**
 * What a command has loaded: the files of the built program, the packages whose code is in them, and Node's own
 * modules. Time depends on the machine; this does not.
 */
async function loadedBy(args: readonly string[], { env = {} }: RunOptions = {}) {
  const { code, stderr } = await sandbox.run(args, {
    env: {
      ...env,
      NODE_V8_COVERAGE: sandbox.path('coverage'),
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(tellBuiltins)}`,
    },
  });
  expect(code).toBe(0);
  const scripts = readdirSync(sandbox.path('coverage')).flatMap((file) => {
    const { result } = JSON.parse(readFileSync(join(sandbox.path('coverage'), file), 'utf8'));
    return (result as { url: string }[]).map(({ url }) => url);
  });
  const files = scripts.filter((url) => url.includes('/dist/')).map((url) => fileURLToPath(url));
  const texts = files.map((file) => readFileSync(file, 'utf8'));
  // Above each module the bundler writes where it comes from.
  const modules = texts.flatMap((text) =>
    [...text.matchAll(/^(?: {2})?\/\/!? (\S+\.[cm]?[jt]sx?)$/gm)].map(([, path = '']) => path),
  );
  const packages = modules.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  const builtins = /BUILTINS (.*)/.exec(stderr)?.[1]?.split(',') ?? [];
  return {
    files: files.length,
    bytes: texts.reduce((sum, text) => sum + text.length, 0),
    modules,
    packages: [...new Set(packages)].sort(),
    hasBuiltin: (name: string) => builtins.includes(`NativeModule ${name}`),
  };
}

test('--version loads next to nothing', async () => {
  const { files, bytes, packages, modules } = await loadedBy(['--version']);
  expect(modules).toContain('src/cli.ts');
  expect(packages).toEqual([]);
  expect(files).toBeLessThanOrEqual(3);
  expect(bytes).toBeLessThan(28_000);
});

test('--help loads the command tree, and nothing that only the commands need', async () => {
  const { files, packages } = await loadedBy(['--help']);
  expect(packages).toEqual(['commander', 'ms']);
  expect(files).toBeLessThanOrEqual(6);
});

test('token loads the parts of undici that send a request, and no schema, YAML, WebSocket or HTTP/2', async () => {
  const { baseUrl } = await sandbox.serve();
  const { files, bytes, packages, modules, hasBuiltin } = await loadedBy(['token', '--device', 'd1'], {
    env: { VOICECTL_BASE_URL: baseUrl },
  });
  expect(packages).toEqual(['commander', 'ms', 'undici']);
  // Of fetch the build keeps only a stub where its bodies were.
  expect(modules.filter((path) => /undici\/(index|lib\/web\/(?!fetch\/body))/.test(path))).toEqual([]);
  expect(files).toBeLessThanOrEqual(12);
  expect(bytes).toBeLessThan(700_000);
  expect(hasBuiltin('http')).toBe(true);
  for (const name of ['http2', 'tls', 'crypto', 'zlib', 'worker_threads']) {
    expect([name, hasBuiltin(name)]).toEqual([name, false]);
  }
});

test('token does not wait for its answer parser to be optimised, which takes longer than everything else', async () => {
  const { baseUrl } = await sandbox.serve();
  const args = [program, 'token', '--device', 'd1', '--base-url', baseUrl, '--api-key', 'any'];
  const trace = execFileSync(process.execPath, ['--trace-wasm-compilation-times', ...args], {
    cwd: sandbox.dir,
    encoding: 'utf8',
    env: { HOME: sandbox.dir },
  });
  expect(trace).toContain('Compiled ');
  expect(trace).not.toContain('using TurboFan');
});

test('stream --local loads few files, and no YAML for a source that is none', async () => {
  const source = ['--file', fixture('cough.wav'), '--pace', 'max', '--tail', '0', '--settle', '100ms'];
  const { files, packages } = await loadedBy(['stream', ...source, '--local', '--reply', 'echo']);
  expect(packages).toContain('wav');
  expect(packages).not.toContain('yaml');
  expect(files).toBeLessThanOrEqual(45);
});

test('drill without --tls loads nothing that makes certificates', async () => {
  const device = fileURLToPath(new URL('../../examples/devices/device.js', import.meta.url));
  const { packages } = await loadedBy(['drill', '--situation', 'D1', '--', process.execPath, device]);
  expect(packages).toContain('ws');
  expect(packages).not.toContain('selfsigned');
});

test('the process of a sound device loads one file, which has little else', () => {
  const text = readFileSync(join(program, '../../dist/device-host.js'), 'utf8');
  expect(text).not.toMatch(/(?:from|import)\s*\(?\s*"\./);
  expect(text.length).toBeLessThan(20_000);
});

test('an emulator that nobody scrapes loads nothing that writes metrics', async () => {
  const { packages, modules } = await loadedBy(['exec', '--', 'true']);
  expect(modules).toContain('src/service/metrics/service-tally.ts');
  expect(packages).not.toContain('prom-client');
});

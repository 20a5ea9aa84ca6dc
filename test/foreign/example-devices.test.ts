import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { situations } from '../../src/conformance/drill/catalogue.ts';
import { findPython } from '../helpers/python.ts';
import { jsonLines, sandboxFor } from '../helpers/voicectl.ts';

const devices = join(import.meta.dirname, '..', '..', 'examples', 'devices');
const folder = mkdtempSync(join(tmpdir(), 'voicectl-device-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const source = (name: string) => join(devices, name);

/** Builds the device as its first comment says; undefined where a compiler or a library is missing. */
function buildC(): string | undefined {
  const program = join(folder, 'device');
  const flags = ['-O2', '-Wall', '-Wextra', '-Werror', '-o', program, source('device.c')];
  const built = spawnSync('cc', [...flags, '-lcurl', '-lwebsockets', '-lm'], { encoding: 'utf8' });
  if (built.status === 0) return program;
  if (built.error === undefined && !/No such file|cannot find -l/.test(built.stderr))
    throw new Error(built.stderr);
  return undefined;
}

const python = findPython('websockets');
const program = buildC();
const examples: [name: string, command: readonly string[] | undefined, missing: string][] = [
  ['device.js', [process.execPath, source('device.js')], ''],
  [
    'device.py',
    python === undefined ? undefined : [python, source('device.py')],
    'no Python with websockets',
  ],
  ['device.c', program === undefined ? undefined : [program], 'no C compiler with libcurl and libwebsockets'],
];

test('each example is drilled', () => {
  expect(examples.map(([name]) => name).toSorted()).toEqual(readdirSync(devices).toSorted());
});

/** To start Node or Python takes longer than most situations: all of them with `npm run conformance`. */
const isWhole = process.env.DEVICES === 'all';
const ruleOf = ({ id }: { id: string }) => id.split('-')[0] ?? '';
const oneOfEachRule = situations.filter(
  (one, index) => situations.findIndex((other) => ruleOf(other) === ruleOf(one)) === index,
);

describe.concurrent('an example', () => {
  for (const [name, command, missing] of examples) {
    const [chosen, title] =
      isWhole || name === 'device.c'
        ? [situations, `${name} passes every situation`]
        : [oneOfEachRule, `${name} passes a situation of each rule`];
    const why = command === undefined ? ` (skipped: ${missing})` : '';
    test.skipIf(command === undefined)(title + why, { timeout: 180_000 }, async (context) => {
      const sandbox = sandboxFor(context);
      const only = chosen === situations ? [] : chosen.flatMap(({ id }) => ['--drill', id]);
      const { code, stdout, stderr } = await sandbox.run(
        ['drill', '--json', '--tls', '--parallel', '12', ...only, '--', ...(command ?? [])],
        { env: { NODE_NO_WARNINGS: '1' } },
      );
      const lines = jsonLines(stdout);
      const wrong = lines.filter(({ type, verdict }) => type === 'drill' && verdict !== 'pass');
      expect(wrong.map(({ id, verdict, message }) => `${id} ${verdict}: ${message}`)).toEqual([]);
      expect(lines.filter(({ type }) => type === 'drill')).toHaveLength(chosen.length);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    });
  }
});

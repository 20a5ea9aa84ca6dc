import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { situations } from '../../src/conformance/drill/catalogue.ts';
import { shellWord } from '../../src/kernel/shell-text.ts';
import { findPython } from '../helpers/python.ts';
import { type Json, jsonLines, sandboxFor } from '../helpers/voicectl.ts';

const devices = join(import.meta.dirname, '..', '..', 'examples', 'devices');
const folder = mkdtempSync(join(tmpdir(), 'voicectl-device-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const source = (name: string) => join(devices, name);

/** Builds the device as its first comment says; undefined if a compiler or a library is missing. */
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

/** Starting a program takes longer than most situations; `npm run conformance` runs all of them. */
const isWhole = process.env.DEVICES === 'all';
const ruleOf = ({ id }: { id: string }) => id.split('-')[0] ?? '';
/** A device that breaks one of these fails in each of the others too; some of those end a stream, as D3 requires. */
const judgedInAll = ['D1', 'D2', 'D3', 'D4'];
const oneOfEachRule = situations.filter(
  (one, index) =>
    !judgedInAll.includes(ruleOf(one)) &&
    situations.findIndex((other) => ruleOf(other) === ruleOf(one)) === index,
);
/**
 * For a device whose interpreter is slow to start: only what its own code decides. Its library answers pings (D15) and closes
 * (D16); a refusal (D7), a refused token (D8) and a lost stream (D9) end in the code of D6 and D10, and none of it looks at
 * the pace of a reply (D12).
 */
const ofLibrary = ['D7', 'D8', 'D9', 'D12', 'D15', 'D16'];
const ofOwnLines = oneOfEachRule.filter((one) => !ofLibrary.includes(ruleOf(one)));

describe.concurrent('an example', () => {
  for (const [name, command, missing] of examples) {
    const [chosen, title] = isWhole
      ? [situations, `${name} passes every situation`]
      : name === 'device.c'
        ? [oneOfEachRule, `${name} passes a situation of each rule`]
        : [ofOwnLines, `${name} passes a situation of each rule that its own lines keep`];
    const why = command === undefined ? ` (skipped: ${missing})` : '';
    test.skipIf(command === undefined)(title + why, { timeout: 180_000 }, async (context) => {
      const sandbox = sandboxFor(context);
      const drill = async (only: readonly string[], parallel: number) => {
        const flags = [
          '--json',
          '--tls',
          '--parallel',
          String(parallel),
          ...only.flatMap((id) => ['--situation', id]),
        ];
        const ended = await sandbox.run(['drill', ...flags, '--', ...(command ?? [])], {
          env: { NODE_NO_WARNINGS: '1' },
        });
        return { ...ended, drilled: jsonLines(ended.stdout).filter(({ type }) => type === 'drill') };
      };
      const wrongOf = (drilled: readonly Json[]) => drilled.filter(({ verdict }) => verdict !== 'pass');

      const ids = chosen.map(({ id }) => id);
      let last = await drill(ids, name === 'device.c' ? 12 : 4);
      expect(last.drilled).toHaveLength(chosen.length);
      // A busy machine makes a device speak in bursts: a device that breaks a rule also breaks it in a separate drill.
      for (let again = 0; again < 3 && wrongOf(last.drilled).length > 0; again += 1)
        last = await drill(
          wrongOf(last.drilled).map(({ id }) => String(id)),
          1,
        );
      expect(wrongOf(last.drilled).map(({ id, verdict, message }) => `${id} ${verdict}: ${message}`)).toEqual(
        [],
      );
      expect({ code: last.code, stderr: last.stderr }).toEqual({ code: 0, stderr: '' });
    });
  }
});

describe.concurrent('an example asks again after an answer that is cut off', () => {
  for (const [name, command, missing] of examples) {
    const why = command === undefined ? ` (skipped: ${missing})` : '';
    test.skipIf(command === undefined)(name + why, { timeout: 60_000 }, async (context) => {
      const sandbox = sandboxFor(context);
      let requests = 0;
      const askedAgain = new Promise<string>((resolve) => {
        const server = createServer((request, response) => {
          requests += 1;
          if (requests === 2) resolve('it asked again');
          response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 100 });
          response.write('{"token":"', () => request.socket.destroy());
        });
        sandbox.defer(() => server.close());
        server.listen(0, '127.0.0.1', () => {
          const { port } = server.address() as AddressInfo;
          const env = { VOICECTL_BASE_URL: `http://127.0.0.1:${port}` };
          const device = sandbox.startShell(`exec ${command?.map(shellWord).join(' ')}`, { env });
          void device.ended.then(({ stderr }) => resolve(`it ended: ${stderr}`));
        });
      });
      expect(await askedAgain).toBe('it asked again');
    });
  }
});

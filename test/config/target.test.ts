import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { optionsOf } from '../../src/config/options.ts';
import { type Flags, resolveSettings } from '../../src/config/settings.ts';
import { resolveTarget } from '../../src/config/target.ts';
import { runInProcess } from '../helpers/in-process.ts';

let cwd = '';
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'voicectl-target-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

async function addresses(flags: Flags, env: Record<string, string>) {
  const connection = await resolveSettings(optionsOf('token'), { flags, env: { HOME: cwd, ...env }, cwd });
  const { baseUrl, wsUrl } = await resolveTarget(connection, {
    needsKey: false,
    stdin: Readable.from([]),
    signal: new AbortController().signal,
  });
  return { baseUrl, wsUrl };
}

const one = { baseUrl: 'https://one.example', wsUrl: 'wss://stream.one.example' };
const two = { baseUrl: 'https://two.example', wsUrl: 'wss://stream.two.example' };

test('the stream is on the host of the base URL, unless its own address is given', async () => {
  expect(await addresses({ baseUrl: one.baseUrl }, {})).toEqual({
    baseUrl: one.baseUrl,
    wsUrl: 'wss://one.example',
  });
  expect(await addresses(one, {})).toEqual(one);
});

test('the token of a service named by a stronger source does not go to the stream of another', async () => {
  const derived = { baseUrl: one.baseUrl, wsUrl: 'wss://one.example' };
  expect(await addresses({ baseUrl: one.baseUrl }, { VOICECTL_WS_URL: two.wsUrl })).toEqual(derived);
  writeFileSync(
    join(cwd, 'voicectl.config.yaml'),
    `wsUrl: ${two.wsUrl}\nprofiles: { p: { baseUrl: ${one.baseUrl} } }\n`,
  );
  expect(await addresses({}, { VOICECTL_BASE_URL: one.baseUrl })).toEqual(derived);
  expect(await addresses({ profile: 'p' }, {})).toEqual(derived);
});

test('a stream address from the same source as the base URL, or a stronger one, is kept', async () => {
  expect(await addresses({}, { VOICECTL_BASE_URL: one.baseUrl, VOICECTL_WS_URL: one.wsUrl })).toEqual(one);
  expect(await addresses({ wsUrl: one.wsUrl }, { VOICECTL_BASE_URL: one.baseUrl })).toEqual(one);
  expect((await addresses({}, { VOICECTL_WS_URL: one.wsUrl })).wsUrl).toBe(one.wsUrl);
});

test.each<[string, Flags, Record<string, string>, string]>([
  ['the environment', {}, { VOICECTL_API_KEY: 'given', VOICECTL_API_KEY_FILE: 'key.txt' }, 'given'],
  [
    'a flag for the file, the environment for the key',
    { apiKeyFile: 'key.txt' },
    { VOICECTL_API_KEY: 'given' },
    'filed',
  ],
  [
    'a flag for the key, the environment for the file',
    { apiKey: 'given' },
    { VOICECTL_API_KEY_FILE: 'key.txt' },
    'given',
  ],
])(
  'the key goes before the key file in one place, and the stronger place before the other: %s',
  async (_where, flags, env, key) => {
    writeFileSync(join(cwd, 'key.txt'), 'filed\n');
    const inFolder = Object.fromEntries(
      Object.entries(env).map(([name, value]) => [name, name.endsWith('FILE') ? join(cwd, value) : value]),
    );
    const connection = await resolveSettings(optionsOf('token'), {
      flags: {
        ...flags,
        ...('apiKeyFile' in flags ? { apiKeyFile: join(cwd, 'key.txt') } : {}),
        baseUrl: 'http://127.0.0.1:1',
      },
      env: { HOME: cwd, ...inFolder },
      cwd,
    });
    const { apiKey } = await resolveTarget(connection, {
      needsKey: true,
      stdin: Readable.from([]),
      signal: new AbortController().signal,
    });
    expect(apiKey).toBe(key);
  },
);

test.each([['load', '--file', '-'], ['mcp']])(
  'standard input is free for other things if a stronger place than its key file has the key: %s',
  async (...argv) => {
    const config = join(cwd, 'config.yaml');
    writeFileSync(config, 'apiKeyFile: "-"\n');
    const { stderr } = await runInProcess([...argv, '--config', config], {
      env: { VOICECTL_API_KEY: 'key-of-mine-1' },
      input: '',
    });
    expect(stderr).not.toMatch(/Standard input (cannot be both|carries)/);
  },
);

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectionOptions } from '../../src/config/options.ts';
import { type Flags, resolveSettings } from '../../src/config/settings.ts';
import { resolveTarget } from '../../src/config/target.ts';

let cwd = '';
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'voicectl-target-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

async function addresses(flags: Flags, env: Record<string, string>) {
  const connection = await resolveSettings(connectionOptions, { flags, env: { HOME: cwd, ...env }, cwd });
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

test('the token of a service that a stronger place names does not go to the stream of another', async () => {
  const derived = { baseUrl: one.baseUrl, wsUrl: 'wss://one.example' };
  expect(await addresses({ baseUrl: one.baseUrl }, { VOICECTL_WS_URL: two.wsUrl })).toEqual(derived);
  writeFileSync(
    join(cwd, 'voicectl.config.yaml'),
    `wsUrl: ${two.wsUrl}\nprofiles: { p: { baseUrl: ${one.baseUrl} } }\n`,
  );
  expect(await addresses({}, { VOICECTL_BASE_URL: one.baseUrl })).toEqual(derived);
  expect(await addresses({ profile: 'p' }, {})).toEqual(derived);
});

test('an address of the stream from the same place as the base URL, or from a stronger one, is kept', async () => {
  expect(await addresses({}, { VOICECTL_BASE_URL: one.baseUrl, VOICECTL_WS_URL: one.wsUrl })).toEqual(one);
  expect(await addresses({ wsUrl: one.wsUrl }, { VOICECTL_BASE_URL: one.baseUrl })).toEqual(one);
  expect((await addresses({}, { VOICECTL_WS_URL: one.wsUrl })).wsUrl).toBe(one.wsUrl);
});

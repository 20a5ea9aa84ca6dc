import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { readRecording } from '../../src/recording/read-recording.ts';
import { recordStream } from '../../src/recording/record-stream.ts';
import { grantedExchange, openedUpgrade } from '../helpers/exchanges.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { jsonLines, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const MiB = 1024 * 1024;

test('a recording that the disk could not keep up with is incomplete, and says nothing of the rest', async () => {
  const failures: string[] = [];
  const folder = sandbox.path('stream');
  const recording = recordStream({
    ...{ baseUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1', source: 'a test' },
    folderOf: () => folder,
    clock: systemClock,
    device: 'lamp',
    ownerOf: () => ({ device: 'lamp' }),
    onFailure: ({ message }) => failures.push(message),
  });
  const data = Buffer.alloc(MiB);
  for (let at = 0; at < 9; at += 1)
    recording.tap.message?.({ from: 'device', at, opcode: 'binary', bytes: MiB, data });
  await recording.close();
  expect(failures).toEqual(['The disk cannot keep up']);
  const { problems } = await readRecording(folder);
  expect(problems).toEqual(['There is no summary.json: the recording is incomplete']);
});

test('the token is dated by its request, also one that was granted long before the stream', async () => {
  const folder = sandbox.path('late');
  const clock = createManualClock();
  const granted = grantedExchange({ at: clock.now(), totalMs: 40 });
  clock.advance(3_000);
  const { tap, close } = recordStream({
    ...{
      baseUrl: 'http://127.0.0.1:1',
      wsUrl: 'ws://127.0.0.1:1',
      source: 'a test',
      clock,
      folderOf: () => folder,
    },
    ownerOf: () => ({ device: 'lamp', granted }),
    onFailure() {},
  });
  tap.opened?.(openedUpgrade(clock.now()));
  const token = granted.granted ?? expect.unreachable();
  tap.message?.({ from: 'device', at: clock.now(), opcode: 'text', bytes: 5, token });
  clock.advance(100);
  await close();
  const events = jsonLines(readFileSync(join(folder, 'events.jsonl'), 'utf8'));
  expect(events.find(({ type }) => type === 'token')).toMatchObject({ t: 40 });
});

test('a stream that was opened before its token was requested is recorded from its upgrade', async () => {
  const folder = sandbox.path('early');
  const clock = createManualClock();
  const upgradeAt = clock.now();
  clock.advance(60);
  const granted = grantedExchange({ at: clock.now(), totalMs: 40 });
  clock.advance(40);
  const { tap, close } = recordStream({
    ...{ baseUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1', source: 'a test' },
    ...{ clock, folderOf: () => folder },
    ownerOf: () => ({ device: 'lamp', granted }),
    onFailure() {},
  });
  tap.opened?.(openedUpgrade(upgradeAt));
  const token = granted.granted ?? expect.unreachable();
  tap.message?.({ from: 'device', at: clock.now(), opcode: 'text', bytes: 5, token });
  await close();
  const { problems, wire } = await readRecording(folder);
  expect(problems).toEqual([]);
  expect(wire).toMatchObject([
    { type: 'token-request', t: 60 },
    { type: 'upgrade', t: 0 },
    { type: 'token', t: 100 },
  ]);
});

test.each([
  ['service', 4001, true, { ok: false, failure: { code: 'stream-broken' } }],
  ['service', 1011, true, { ok: false, failure: { code: 'stream-broken' } }],
  ['service', 4401, false, { ok: false, failure: { code: 'stream-refused' } }],
  ['service', 1000, true, { ok: true, failure: null }],
  ['device', 1006, true, { ok: true, failure: null }],
] as const)(
  'a stream that the %s closes with %i has the outcome of a session',
  async (by, code, isConfirmed, outcome) => {
    const clock = createManualClock();
    const folder = sandbox.path(`closed-${by}-${code}`);
    const { tap, close } = recordStream({
      ...{ baseUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1', source: 'a test', clock },
      folderOf: () => folder,
      ownerOf: () => ({ device: 'lamp' }),
      onFailure() {},
    });
    tap.opened?.(openedUpgrade(clock.now()));
    const token = grantedExchange({ at: clock.now() }).granted ?? expect.unreachable();
    tap.message?.({ from: 'device', at: clock.now(), opcode: 'text', bytes: 5, token });
    const text = '{"type":"service_voice_connected"}';
    if (isConfirmed)
      tap.message?.({ from: 'service', at: clock.now(), opcode: 'text', bytes: text.length, text });
    tap.closed?.({ at: clock.now(), by, code, reason: 'bye', breakdown: undefined });
    await close();
    expect((await readRecording(folder)).summary).toMatchObject(outcome);
  },
);

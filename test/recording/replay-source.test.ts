import { expect, test } from 'vitest';
import { openReplaySource } from '../../src/recording/replay-source.ts';
import { setUpBundles } from '../helpers/bundles.ts';
import { startSession } from '../helpers/scripted-session.ts';

const bundles = setUpBundles();
const connected = '{"type":"service_voice_connected"}';

async function openExample() {
  const { folder } = await bundles.write((writer) => {
    writer.wire({ t: 100, type: 'text', text: connected });
    writer.audio('out', 110, Buffer.from([1, 2, 3, 4]));
    writer.audio('out', 1_500, Buffer.from([5, 6]));
    writer.audio('in', 1_600, Buffer.from([7, 8]));
  });
  return openReplaySource(folder);
}

test('the audio of the user is sent in the original messages at their times, without a tail', async () => {
  const source = await openExample();
  const session = startSession({ options: { source, waitMs: 500 } });
  expect(await session.finish()).toBe('ok');
  const { heard } = session.service;
  expect(heard.map(({ pcm }) => [...pcm])).toEqual([
    [1, 2, 3, 4],
    [5, 6],
  ]);
  expect(heard.map(({ at }) => at)).toEqual([10, 1_400]);
});

test.each([
  [2, [5, 700]],
  ['max', [0, 0]],
] as const)('at the pace %s', async (pace, times) => {
  const session = startSession({ options: { source: await openExample(), waitMs: 500, pace } });
  await session.finish();
  expect(session.service.heard.map(({ at }) => at)).toEqual(times);
});

test('can also be read as plain audio', async () => {
  const source = await openExample();
  const chunks: Buffer[] = [];
  for await (const pcm of source.read()) chunks.push(pcm);
  expect([...Buffer.concat(chunks)]).toEqual([1, 2, 3, 4, 5, 6]);
});

test('a recording in which nobody spoke is refused', async () => {
  const { folder } = await bundles.write((writer) => writer.wire({ t: 100, type: 'text', text: connected }));
  await expect(openReplaySource(folder)).rejects.toMatchObject({ code: 'bad-input' });
});

test.each([1, 'max'] as const)('at the pace %s, nothing more is sent once it is enough', async (pace) => {
  const enough = new AbortController();
  const session = startSession({
    options: { source: await openExample(), waitMs: 500, pace, loop: true, enough: enough.signal },
    onAudio: (_pcm, service) => {
      if (service.heard.length < 3) return;
      if (pace === 'max') enough.abort();
      // While the fourth waits for its time.
      else service.at(2_000, () => enough.abort());
    },
  });
  expect(await session.finish()).toBe('ok');
  expect(session.service.heard).toHaveLength(3);
  expect(session.of('state').map(({ state }) => state)).toContain('draining');
});

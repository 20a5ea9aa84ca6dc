import { mkdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createStereoFile } from '../../src/recording/stereo-file.ts';
import type { SessionEvent } from '../../src/session/events.ts';
import { setUpBundles } from '../helpers/bundles.ts';
import { createManualClock } from '../helpers/manual-clock.ts';

const { newPath } = setUpBundles();
const giveUp = new AbortController().signal;

test('the stereo file of a session begins and ends with the session, including pauses', async () => {
  const path = `${newPath()}.wav`;
  const clock = createManualClock();
  const { tap, sink, watch } = await createStereoFile({ path, clock, giveUp });
  clock.advance(5_000);
  async function* session(): AsyncGenerator<SessionEvent> {
    yield { t: 0, type: 'state', state: 'live' };
    clock.advance(100);
    tap.message?.({
      at: clock.now(),
      from: 'device',
      opcode: 'binary',
      data: Buffer.alloc(640, 1),
      bytes: 640,
    });
    clock.advance(900);
    tap.message?.({
      at: clock.now(),
      from: 'service',
      opcode: 'binary',
      data: Buffer.alloc(640, 2),
      bytes: 640,
    });
    clock.advance(1_000);
    await sink.close();
  }
  const seen: string[] = [];
  for await (const event of watch(session())) seen.push(event.type);
  expect(seen).toEqual(['state']);
  const wav = readFileSync(path);
  expect([wav.readUInt16LE(22), wav.readUInt32LE(40)]).toEqual([2, 2_000 * 64]);
  const at = (ms: number) => wav.subarray(44 + ms * 64, 44 + ms * 64 + 4);
  expect(at(105)).toEqual(Buffer.from([1, 1, 0, 0]));
  expect(at(500)).toEqual(Buffer.alloc(4));
  expect(at(1_005)).toEqual(Buffer.from([0, 0, 2, 2]));
});

test('a file that cannot be created is an output failure', async () => {
  const path = newPath();
  mkdirSync(path, { recursive: true });
  const clock = createManualClock();
  await expect(createStereoFile({ path, clock, giveUp })).rejects.toMatchObject({ code: 'input-output' });
});

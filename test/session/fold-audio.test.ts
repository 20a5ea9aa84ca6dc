import { describe, expect, test } from 'vitest';
import type { AudioDirection, SessionEvent } from '../../src/session/events.ts';
import { foldAudio } from '../../src/session/fold-audio.ts';

const audio = (t: number, direction: AudioDirection = 'in', dbfs = -20): SessionEvent => ({
  t,
  type: 'audio',
  direction,
  frames: 1,
  bytes: 640,
  audioMs: 20,
  rmsDbfs: dbfs,
  peakDbfs: dbfs + 3,
});
const message = (t: number): SessionEvent => ({
  t,
  type: 'message',
  category: 'status',
  kind: 's',
  body: {},
});
const state = (t: number): SessionEvent => ({ t, type: 'state', state: 'draining' });
const close = (t: number): SessionEvent => ({ t, type: 'close', code: 1000, name: 'normal', reason: '' });

async function fold(events: SessionEvent[], everyMs = 1_000): Promise<SessionEvent[]> {
  async function* source() {
    yield* events;
  }
  const folded: SessionEvent[] = [];
  for await (const event of foldAudio(source(), everyMs)) folded.push(event);
  return folded;
}

/** What a folded stream looks like in short: `in×50@1000`, `message@200`. */
const short = (events: SessionEvent[]) =>
  events.map((event) =>
    event.type === 'audio' ? `${event.direction}×${event.frames}@${event.t}` : `${event.type}@${event.t}`,
  );

const every20 = (from: number, to: number, direction?: AudioDirection) =>
  Array.from({ length: (to - from) / 20 }, (_, i) => audio(from + i * 20, direction));

describe('audio events', () => {
  test('are folded into one per second and direction', async () => {
    const events = [...every20(0, 2_500, 'out'), ...every20(0, 2_500, 'in')].toSorted((a, b) => a.t - b.t);
    expect(short(await fold(events))).toEqual([
      'out×50@1000',
      'in×50@1000',
      'out×50@2000',
      'in×50@2000',
      'out×25@2480',
      'in×25@2480',
    ]);
  });

  test('add up, and keep the loudest level', async () => {
    const [folded] = await fold([audio(0, 'in', -40), audio(20, 'in', -10), audio(40, 'in', -30)]);
    expect(folded).toEqual({
      t: 40,
      type: 'audio',
      direction: 'in',
      frames: 3,
      bytes: 1_920,
      audioMs: 60,
      rmsDbfs: -10,
      peakDbfs: -7,
    });
  });

  test('come before the event that ends a phase', async () => {
    expect(short(await fold([...every20(0, 100), state(100), ...every20(100, 200), state(200)]))).toEqual([
      'in×5@100',
      'state@100',
      'in×5@200',
      'state@200',
    ]);
  });

  test('come before the close of the stream', async () => {
    expect(short(await fold([...every20(0, 100), close(110)]))).toEqual(['in×5@110', 'close@110']);
  });

  test('never delay another event', async () => {
    expect(short(await fold([audio(0), message(10), audio(20), message(30)]))).toEqual([
      'message@10',
      'message@30',
      'in×2@30',
    ]);
  });

  test('that come late keep the times in order', async () => {
    const folded = await fold([
      audio(0),
      audio(500),
      message(600),
      message(1_100),
      audio(1_120),
      message(9_000),
    ]);
    expect(short(folded)).toEqual(['message@600', 'in×2@1100', 'message@1100', 'in×1@9000', 'message@9000']);
  });

  test('are all emitted if the stream just ends', async () => {
    expect(short(await fold(every20(0, 60)))).toEqual(['in×3@40']);
    expect(await fold([])).toEqual([]);
  });
});

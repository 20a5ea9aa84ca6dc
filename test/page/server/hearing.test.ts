import { expect, test } from 'vitest';
import type { HeardStream } from '../../../src/page/messages.ts';
import { startHearing } from '../../../src/page/server/hearing.ts';
import type { Mark } from '../../../src/page/view-data.ts';
import type { Tap } from '../../../src/wire/tap.ts';
import { fixturePcm } from '../../helpers/fixtures.ts';
import { speech } from '../../helpers/pcm.ts';

/** What a tab hears of one stream, at a time that is moved. */
function listenTo({ openForMs = 0 } = {}) {
  const time = { now: openForMs };
  let tap: Tap = {};
  const hearing = startHearing({
    elapsedMs: () => time.now,
    observe(listen) {
      tap = listen(1, openForMs) ?? {};
      return () => {};
    },
  });
  return { hearing, tap, time };
}

/** A stream in real time: the AI speaks, the user talks over it, and it stops. `looks`: what a tab is told of the turns. */
function hear(say: { name: string; fromMs: number; aiUntilMs: number }) {
  const { hearing, tap, time } = listenTo();
  const [mine, theirs] = [fixturePcm(`${say.name}.wav`), fixturePcm('answer.wav')];
  const looks: { at: number; marks: Mark[] }[] = [];
  for (; time.now < 8_000; time.now += 20) {
    const { now } = time;
    const at = (now - say.fromMs) * 32;
    const isSaid = at >= 0 && at < mine.length;
    tap.message?.({
      from: 'device',
      at: now,
      data: isSaid ? mine.subarray(at, at + 640) : Buffer.alloc(640),
    } as never);
    if (now >= 1_000 && now < say.aiUntilMs)
      tap.message?.({
        from: 'service',
        at: now,
        data: theirs.subarray((now - 1_000) * 32, (now - 980) * 32),
      } as never);
    if (now % 100 !== 0) continue;
    for (const { turns } of hearing.drain())
      if (turns !== undefined) looks.push({ at: now, marks: turns.marks });
  }
  return { looks, later: hearing.drain(true) };
}

test('a stream that is old when a tab opens is heard at once, at its own times', () => {
  const hello = fixturePcm('hello.wav');
  const heardOf = (openForMs: number) => {
    const { hearing, tap, time } = listenTo({ openForMs });
    for (; time.now < openForMs + 15_000; time.now += 20) {
      const at = (time.now - openForMs - 1_000) * 32;
      const data = at >= 0 && at < hello.length ? hello.subarray(at, at + 640) : Buffer.alloc(640);
      tap.message?.({ from: 'device', at: time.now, data } as never);
      if (time.now % 100 === 0) hearing.drain();
    }
    const [{ voices, turns } = { voices: [], turns: undefined }] = hearing.drain(true);
    const { speech = [] } = voices.find(({ voice }) => voice === 'out') ?? {};
    return {
      speech: speech.map(({ startMs, endMs }) => [startMs - openForMs, (endMs ?? 0) - openForMs]),
      marks: turns?.marks.map(({ t, name }) => [t - openForMs, name]),
      fromMs: (turns?.fromMs ?? 0) - openForMs,
    };
  };
  const ofNew = heardOf(0);
  expect(ofNew.marks).toEqual([[expect.any(Number), 'no reply']]);
  // The silence of these days would keep the service busy for many minutes.
  expect(heardOf(100 * 24 * 3_600_000)).toEqual(ofNew);
});

test('a yield is marked while the stream is open, also for a tab that opens later', () => {
  const { looks, later } = hear({ name: 'question', fromMs: 2_500, aiUntilMs: 3_000 });
  const [first] = looks;
  expect(first?.marks).toEqual([
    {
      t: expect.closeTo(3_000, -1.5),
      tone: 'good',
      name: expect.stringMatching(/^yields \d+ ms$/),
      text: expect.any(String),
    },
  ]);
  expect(first?.at).toBeLessThan(4_000);
  expect(later[0]?.turns?.marks).toEqual(looks.at(-1)?.marks);
});

test('a short sound that stops the AI is marked as a possible false stop, because no script says whether it is a turn', () => {
  const { later } = hear({ name: 'cough', fromMs: 2_600, aiUntilMs: 3_000 });
  expect(later[0]?.turns?.marks).toContainEqual(
    expect.objectContaining({
      tone: 'note',
      name: 'false stop?',
      text: expect.stringContaining('false if it is not a turn'),
    }),
  );
});

test('a yield is marked even if the reply was sent ahead, and dropped audio is no longer drawn', () => {
  const { hearing, tap, time } = listenTo();
  const [mine, theirs] = [fixturePcm('barge-in.wav'), fixturePcm('answer.wav')];
  const seen: HeardStream[] = [];
  for (; time.now < 9_000; time.now += 20) {
    const { now } = time;
    const at = (now - 2_500) * 32;
    const isSaid = at >= 0 && at < mine.length;
    const data = isSaid ? mine.subarray(at, at + 640) : Buffer.alloc(640);
    tap.message?.({ from: 'device', at: now, data } as never);
    // All of it at once, and its end is silent.
    if (now === 1_000) tap.message?.({ from: 'service', at: now, data: theirs } as never);
    if (now === 1_020) tap.message?.({ from: 'service', at: now, data: Buffer.alloc(32_000) } as never);
    if (now === 3_000) {
      const text = '{"type":"status","status":"interrupted"}';
      tap.message?.({ from: 'service', at: now, opcode: 'text', text, bytes: text.length } as never);
    }
    if (now % 100 === 0) seen.push(...hearing.drain());
  }
  expect(seen.flatMap(({ turns }) => turns?.marks ?? [])).toContainEqual(
    expect.objectContaining({
      t: expect.closeTo(3_000, -1.5),
      name: expect.stringMatching(/^yields \d+ ms$/),
    }),
  );
  const dropped = seen.flatMap(({ voices }) => voices.flatMap(({ cut }) => cut ?? []));
  expect(dropped).toEqual([150]);
  const [whole] = hearing.drain(true);
  const spoken = whole?.voices.find(({ voice }) => voice === 'in');
  expect(spoken?.speech.at(-1)?.endMs).toBe(3_000);
  expect(
    Buffer.from(spoken?.peaks ?? '', 'base64')
      .subarray(151)
      .every((peak) => peak === 0),
  ).toBe(true);
});

test('a turn without a reply is marked when the wait is over', () => {
  const { hearing, tap, time } = listenTo();
  const mine = fixturePcm('question.wav');
  const looks: { at: number; names: string[] }[] = [];
  for (; time.now < 45_000; time.now += 20) {
    const { now } = time;
    const at = (now - 25_000) * 32;
    const data = at >= 0 && at < mine.length ? mine.subarray(at, at + 640) : Buffer.alloc(640);
    tap.message?.({ from: 'device', at: now, data } as never);
    if (now % 100 !== 0) continue;
    for (const { turns } of hearing.drain())
      if (turns !== undefined) looks.push({ at: now, names: turns.marks.map(({ name }) => name) });
  }
  expect(looks).toEqual([{ at: expect.any(Number), names: ['no reply'] }]);
});

test('a turn is not without a reply if its stream closed before the wait was over', () => {
  const { hearing, tap, time } = listenTo();
  const hello = fixturePcm('hello.wav');
  const seen: HeardStream[] = [];
  for (; time.now < 20_000; time.now += 20) {
    const at = time.now * 32;
    if (time.now < 3_000) {
      const data = at < hello.length ? hello.subarray(at, at + 640) : Buffer.alloc(640);
      tap.message?.({ from: 'device', at: time.now, data } as never);
    }
    if (time.now === 3_000) tap.closed?.({} as never);
    if (time.now % 100 === 0) seen.push(...hearing.drain());
  }
  expect(seen.flatMap(({ turns }) => turns?.marks ?? [])).toEqual([]);
  const [whole] = hearing.drain(true);
  expect(whole?.voices.flatMap(({ speech }) => speech)).toEqual([
    { startMs: expect.any(Number), endMs: expect.closeTo(2_000, -2) },
  ]);
});

test('the picture does not depend on the lengths of messages, which may end within a sample', () => {
  const hello = fixturePcm('hello.wav');
  const peaksOf = (messageBytes: number) => {
    const { hearing, tap, time } = listenTo();
    for (let at = 0; at < hello.length; at += messageBytes) {
      time.now = at / 32;
      tap.message?.({ from: 'device', at: time.now, data: hello.subarray(at, at + messageBytes) } as never);
    }
    const voice = hearing.drain(true)[0]?.voices.find((one) => one.voice === 'out');
    return [...Buffer.from(voice?.peaks ?? '', 'base64')];
  };
  expect(Math.max(...peaksOf(640))).toBeLessThan(200);
  expect(peaksOf(641)).toEqual(peaksOf(640));
  expect(peaksOf(1)).toEqual(peaksOf(640));
});

test('a yield just before the end of the stream is marked', () => {
  const { hearing, tap, time } = listenTo();
  const [mine, theirs] = [fixturePcm('barge-in.wav'), fixturePcm('answer.wav')];
  const seen: HeardStream[] = [];
  for (; time.now < 6_000; time.now += 20) {
    const { now } = time;
    if (now < 3_100) {
      const at = (now - 2_000) * 32;
      const data = at >= 0 ? mine.subarray(at, at + 640) : Buffer.alloc(640);
      tap.message?.({ from: 'device', at: now, data } as never);
    }
    if (now >= 500 && now < 2_900) {
      const data = theirs.subarray((now - 500) * 32, (now - 480) * 32);
      tap.message?.({ from: 'service', at: now, data } as never);
    }
    if (now === 2_900) {
      const text = '{"type":"status","status":"interrupted"}';
      tap.message?.({ from: 'service', at: now, opcode: 'text', text, bytes: text.length } as never);
    }
    if (now === 3_100) tap.closed?.({} as never);
    if (now % 100 === 0) seen.push(...hearing.drain());
  }
  const [mark, ...others] = seen.flatMap(({ turns }) => turns?.marks ?? []);
  expect(mark).toMatchObject({ t: expect.closeTo(2_900, -2), name: expect.stringMatching(/^yields/) });
  expect(others).toEqual([]);
});

test('if only one side speaks, there are no marks of turn-taking', () => {
  const { looks, later } = hear({ name: 'question', fromMs: 4_000, aiUntilMs: 3_000 });
  expect(looks).toEqual([]);
  expect(later[0]?.turns).toBeUndefined();
});

test('gaps are the same as in a recording: also of silence, but not if the user spoke in between', () => {
  const { hearing, tap, time } = listenTo();
  const said = fixturePcm('hello.wav');
  const at = (now: number, from: 'device' | 'service', data: Buffer) => {
    time.now = now;
    tap.message?.({ from, at: now, data } as never);
  };
  const frame = Buffer.alloc(640);
  // A reply that pauses between two silent frames; a longer pause is between two replies.
  for (const now of [0, 20, 340, 360, 2_000]) at(now, 'service', frame);
  // The user speaks and ends; the reply that follows is another one.
  for (let now = 2_020; now - 2_020 < said.length / 32; now += 20)
    at(now, 'device', said.subarray((now - 2_020) * 32, (now - 2_000) * 32));
  const spokenAt = time.now;
  for (let now = spokenAt; now < spokenAt + 1_000; now += 20) at(now, 'device', frame);
  at(spokenAt + 1_000, 'service', frame);
  expect(hearing.drain(true)[0]?.gaps).toEqual([{ startMs: 40, endMs: 340 }]);
});

test('the newest 2,000 stretches of speech are kept, however many there are, and each is told once', () => {
  const { hearing, tap, time } = listenTo();
  const tone = speech(100);
  const text = '{"type":"status","status":"interrupted"}';
  const told: number[] = [];
  const stretches = (all?: boolean) =>
    hearing.drain(all).flatMap(({ voices }) => voices.flatMap((voice) => voice.speech));
  for (let count = 1; count <= 2_500; count += 1) {
    tap.message?.({ from: 'service', at: time.now, data: tone } as never);
    time.now += 60;
    tap.message?.({ from: 'service', at: time.now, opcode: 'text', text, bytes: text.length } as never);
    time.now += 60;
    if (count % 500 === 0) told.push(...stretches().map(({ startMs }) => startMs));
  }
  expect(told).toHaveLength(2_500);
  expect(stretches(true).map(({ startMs }) => startMs)).toEqual(told.slice(-2_000));
});

test('the newest 2,000 gaps are kept', () => {
  const { hearing, tap, time } = listenTo();
  for (; time.now < 2_501 * 200; time.now += 200)
    tap.message?.({ from: 'service', at: time.now, data: Buffer.alloc(640) } as never);
  for (const all of [true, false]) {
    const gaps = hearing.drain(all)[0]?.gaps ?? [];
    expect(gaps).toHaveLength(2_000);
    expect(gaps.at(-1)?.endMs).toBe(2_500 * 200);
  }
});

import { describe, expect, test } from 'vitest';
import { readFault } from '../../../src/protocol/read-fault.ts';
import { createEmulatorEvents } from '../../../src/service/events.ts';
import { createFaults } from '../../../src/service/faults/faults.ts';
import { createFaultyAudio } from '../../../src/service/faults/faulty-audio.ts';
import { createRandom } from '../../../src/service/random.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';
import { silence, speech } from '../../helpers/pcm.ts';

/** Audio through these faults; `say` sends numbered 20 ms messages, and `left` has the time at which each left. */
function through(written: readonly string[]) {
  const clock = createManualClock();
  const left: { at: number; number: number; length: number }[] = [];
  const faults = createFaults({
    initial: written.map(readFault),
    random: createRandom(3),
    events: createEmulatorEvents(() => 0),
  });
  const audio = createFaultyAudio({
    faults,
    subject: { stream: 1 },
    clock,
    out: { send: (pcm) => left.push({ at: clock.now(), number: pcm[0] ?? -1, length: pcm.length }) },
  });
  const say = async (from: number, to: number) => {
    for (let number = from; number < to; number += 1) {
      audio.send(Buffer.alloc(640, number));
      await clock.run(20);
    }
  };
  return { clock, faults, audio, left, say };
}

/** Ten messages through the faults, and a second. */
async function pass(...written: string[]) {
  const { clock, audio, left, say } = through(written);
  await say(0, 10);
  await clock.run(1_000);
  audio.close();
  return left;
}

const numbers = (left: { number: number }[]) => left.map(({ number }) => number);
const all = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

describe('audio', () => {
  test('passes immediately and unchanged without a fault', async () => {
    const left = await pass();
    expect(left).toEqual(all.map((number) => ({ at: 20 * number, number, length: 640 })));
  });

  test('leaves in bursts, in order, and nothing is lost', async () => {
    const left = await pass('burst:every=100ms');
    expect(numbers(left)).toEqual(all);
    const times = [...new Set(left.map(({ at }) => at))];
    expect(times).toHaveLength(2);
    expect(times[0]).toBeGreaterThanOrEqual(100);
  });

  test('drips slower than it plays', async () => {
    const left = await pass('drip:factor=0.5');
    expect(numbers(left)).toEqual(all);
    const gaps = left.slice(1).map(({ at }, index) => at - (left[index]?.at ?? 0));
    expect(new Set(gaps)).toEqual(new Set([40]));
  });

  test('that is sometimes dropped arrives without those messages', async () => {
    const left = await pass('drop:probability=0.5');
    expect(left.length).toBeGreaterThan(0);
    expect(left.length).toBeLessThan(10);
  });

  test('passes through one fault after the other', async () => {
    const left = await pass('duplicate', 'odd-split', 'drop:times=1');
    expect(left).toHaveLength(9 * 4);
    expect(left.every(({ length }) => length % 2 === 1)).toBe(true);
  });

  test.each([
    ['full', 640, 1_600, 1_639],
    ['empty', 0, 4_000, 4_096],
  ])('that is held in %s messages does not grow beyond a megabyte', async (_what, bytes, least, most) => {
    const clock = createManualClock();
    const faults = createFaults({
      initial: [readFault('burst:every=1h')],
      random: createRandom(3),
      events: createEmulatorEvents(() => 0),
    });
    let left = 0;
    const send = () => {
      left += 1;
    };
    const audio = createFaultyAudio({ faults, subject: {}, clock, out: { send } });
    for (let count = 0; count < 8_000; count += 1) audio.send(Buffer.alloc(bytes));
    await clock.run(3_600_000, 3_600_000);
    expect(left).toBeLessThanOrEqual(most);
    expect(left).toBeGreaterThan(least);
  });
});

/** A user and an AI through faults, on a clock that is moved. `turn`: whether the AI hears a turn. */
function converse(written: readonly string[], { shortestTurnMs = 0, isTurn = (): boolean => true } = {}) {
  const clock = createManualClock();
  const left: Buffer[] = [];
  const said: Buffer[] = [];
  const ended: number[] = [];
  const strikes: string[] = [];
  const events = createEmulatorEvents(() => 0);
  events.subscribe((event) => {
    if (event.type === 'fault-struck') strikes.push(event.fault);
  });
  const faults = createFaults({ initial: written.map(readFault), random: createRandom(3), events });
  const taker = {
    endTurn() {
      ended.push(clock.now());
      return isTurn();
    },
    say: (pcm: Buffer) => said.push(pcm),
  };
  const out = { send: (pcm: Buffer) => left.push(pcm) };
  const audio = createFaultyAudio({ faults, subject: { stream: 1 }, clock, out, taker, shortestTurnMs });
  const pass = (pcm: Buffer, take: (frame: Buffer) => void) => {
    for (let at = 0; at < pcm.length; at += 640) {
      take(pcm.subarray(at, at + 640));
      clock.advance(20);
    }
  };
  return {
    ...{ audio, faults, left, said, ended, strikes, clock },
    user: (...parts: Buffer[]) => pass(Buffer.concat(parts), audio.hear),
    ai: (ms: number) => pass(speech(ms), audio.send),
  };
}

const messagesOf = (pcm: Buffer) =>
  Array.from({ length: pcm.length / 640 }, (_, at) => pcm.subarray(640 * at, 640 * (at + 1)));

/** Speech of whole seconds: a gap now and then keeps the gate from taking it for noise. */
const talk = (seconds: number) =>
  Buffer.concat(Array.from({ length: seconds }, () => Buffer.concat([speech(900), silence(100)])));

/** A tone of this level. */
const murmur = (ms: number, dbfs: number) => {
  const pcm = speech(ms);
  const gain = 10 ** ((dbfs + 20) / 20);
  for (let at = 0; at < pcm.length; at += 2) pcm.writeInt16LE(Math.round(gain * pcm.readInt16LE(at)), at);
  return pcm;
};

describe('a fault of a reply that is cleared', () => {
  test.each([
    ['never-yields', Number.POSITIVE_INFINITY],
    ['slow-yield:by=700ms', 700],
  ])('lets the AI yield again at once, and in later replies: %s', (fault, ms) => {
    const { audio, faults, ai } = converse([fault]);
    ai(200);
    expect(audio.yieldsAfterMs).toBe(ms);
    faults.clear();
    expect(audio.yieldsAfterMs).toBe(0);
    ai(200);
    expect(audio.yieldsAfterMs).toBe(0);
  });

  test('has no effect any more, while another one has', () => {
    const { faults, left, ai } = converse(['level:db=-20', 'never-yields']);
    ai(100);
    faults.clear(1);
    ai(100);
    expect(left.slice(5)).toEqual(messagesOf(speech(100)));
    expect(left.slice(0, 5)).not.toEqual(messagesOf(speech(100)));
  });

  test.each(['drip:factor=0.5', 'burst:every=500ms'])(
    'holds back nothing more of the reply: %s',
    async (written) => {
      const { clock, faults, audio, left, say } = through([written]);
      await say(0, 10);
      faults.clear();
      await clock.run(20);
      expect(left.map(({ number }) => number)).toEqual(all);
      await say(10, 13);
      const later = [10, 11, 12].map((number) => ({ at: 20 * (number + 1), number, length: 640 }));
      expect(left.slice(10)).toEqual(later);
      audio.close();
    },
  );

  test('does not return words of the user when another one is added', () => {
    const { faults, left, user } = converse(['user-echo']);
    user(speech(500));
    faults.clear();
    faults.add('hum');
    const before = left.length;
    user(speech(500), silence(500));
    // What was on its way still comes.
    expect(left.length - before).toBeLessThan(10);
  });

  test('mixes the words of the user into a reply, even if its messages are long', () => {
    const { audio, left, clock } = converse(['user-echo']);
    for (let ms = 0; ms < 3_000; ms += 20) {
      if (ms % 200 === 0) audio.send(speech(200));
      audio.hear(speech(20));
      clock.advance(20);
    }
    expect(left).toHaveLength(15);
  });
});

describe('early-reply', () => {
  test('in one turn does not end a later one', () => {
    const { ended, strikes, user, clock } = converse(['early-reply:skip=1,times=1']);
    user(talk(5), silence(1_000), speech(500), silence(2_500));
    const thirdAt = clock.now();
    user(talk(3), silence(1_000));
    // A hundred milliseconds into the third turn: the one before lasted half a second.
    expect(ended.map((at) => at - thirdAt >= 80 && at - thirdAt <= 140)).toEqual([true]);
    expect(strikes).toEqual(['early-reply']);
  });

  test('passes by a turn of a device that stops sending, which counts for no skip', () => {
    const { ended, strikes, user, clock } = converse(['early-reply:after=2s,skip=1,times=1']);
    user(speech(500));
    clock.advance(3_000);
    user(talk(3), silence(1_000));
    const thirdAt = clock.now();
    user(talk(5), silence(1_000));
    expect(ended.map((at) => at > thirdAt)).toEqual([true]);
    expect(strikes).toEqual(['early-reply']);
  });

  test('does not affect a turn that ends before', () => {
    const { ended, strikes, user } = converse(['early-reply:after=3s']);
    user(speech(500), silence(9_500));
    expect({ ended, strikes }).toEqual({ ended: [], strikes: [] });
  });

  test('has not struck when there was no turn to end', () => {
    const { ended, strikes, faults, user } = converse(['early-reply'], { isTurn: () => false });
    user(talk(3), silence(1_000));
    expect({ times: ended.length, strikes, struck: faults.list()[0]?.struck }).toEqual({
      times: 1,
      strikes: [],
      struck: 0,
    });
  });

  test('waits until the speech is a turn', () => {
    const { ended, user } = converse(['early-reply:after=0ms'], { shortestTurnMs: 500 });
    user(speech(300), silence(1_000), speech(1_000), silence(1_000));
    expect(ended.map((at) => at >= 1_780 && at <= 1_880)).toEqual([true]);
  });

  test('measures the previous turn, not a cough in between', () => {
    const { ended, user } = converse(['early-reply:skip=1'], { shortestTurnMs: 500 });
    user(talk(2), silence(1_000), speech(300), silence(1_000), talk(3), silence(1_000));
    const thirdAt = 4_300;
    expect(ended.map((at) => Math.abs(at - thirdAt - 1_500) <= 40)).toEqual([true]);
  });

  test.each(['early-reply', 'user-echo'])('does not take a murmur for a turn: %s', (fault) => {
    const { ended, strikes, left, user } = converse([fault]);
    user(murmur(3_000, -47));
    expect({ ended, strikes, left }).toEqual({ ended: [], strikes: [], left: [] });
  });

  test('drops a turn of a device that stopped sending', () => {
    const { ended, user, clock } = converse(['early-reply:after=2s']);
    user(speech(1_000));
    clock.advance(900);
    user(speech(1_200), silence(1_000));
    // The second turn: 600 ms into it.
    expect(ended.map((at) => Math.abs(at - 1_900 - 600) <= 40)).toEqual([true]);
  });
});

describe('reply-lost', () => {
  const turn = speech(1_200);
  test.each([
    ['a turn of two sounds', 0, [turn, silence(300), speech(600)], true],
    ['a turn of two sounds, though some are no turn', 500, [turn, silence(300), speech(600)], true],
    ['a last word soon after the turn', 0, [turn, silence(300), speech(300)], true],
    ['a cough soon after the turn', 500, [turn, silence(300), speech(300)], false],
    ['a short sound long after the turn', 0, [turn, silence(800), speech(300)], false],
    ['a short turn after a cough', 500, [speech(300), silence(900), speech(700)], true],
    ['a cough after a short turn', 500, [speech(700), silence(900), speech(300)], false],
    ['a cough after two turns', 500, [turn, silence(900), turn, silence(900), speech(300)], false],
  ])('after %s (shortest turn: %i ms)', (_what, shortestTurnMs, words, comes) => {
    const { left, user, ai } = converse(['reply-lost'], { shortestTurnMs });
    user(...words, silence(900));
    ai(100);
    expect(left.some(({ length }) => length > 0)).toBe(comes);
  });

  test('does not confuse a turn after a reply with a sound after the previous turn', () => {
    const { left, user, ai } = converse(['reply-lost']);
    user(turn, silence(900));
    ai(100);
    user(silence(900), speech(600), silence(900));
    ai(100);
    expect(left).toHaveLength(10);
  });

  test('has not struck a reply that comes, and loses a later one', () => {
    const { left, strikes, user, ai } = converse(['reply-lost:times=1'], { shortestTurnMs: 500 });
    user(turn, silence(900));
    ai(100);
    expect({ messages: left.length, strikes }).toEqual({ messages: 5, strikes: [] });
    user(silence(900), turn, silence(300), speech(200), silence(900));
    ai(100);
    expect({ messages: left.length, strikes }).toEqual({ messages: 5, strikes: ['reply-lost'] });
  });
});

describe('answers-noise', () => {
  const cough = [silence(2_000), speech(300), silence(2_000)];
  const options = { shortestTurnMs: 500 };

  test('repeats the last reply', () => {
    const { said, user, ai } = converse(['answers-noise'], options);
    ai(600);
    user(...cough);
    expect(said).toEqual([speech(600)]);
  });

  test('repeats it to a device that sends nothing after the sound, or nothing until it speaks', () => {
    const { said, user, ai, clock } = converse(['answers-noise'], options);
    ai(600);
    user(silence(2_000), speech(300));
    clock.advance(2_000);
    expect(said).toEqual([speech(600)]);
    user(speech(1_000));
    clock.advance(2_000);
    expect(said).toHaveLength(1);
  });

  test('says nothing more to a stream that has ended', () => {
    const { audio, said, user, ai, clock } = converse(['answers-noise'], options);
    ai(600);
    user(silence(2_000), speech(300));
    audio.close();
    clock.advance(2_000);
    expect(said).toEqual([]);
  });

  test('keeps a bounded part of a reply, whatever the size of its messages', () => {
    const { said, audio, user } = converse(['answers-noise'], options);
    for (let count = 0; count < 2_000; count += 1) audio.send(Buffer.alloc(2, 1));
    user(...cough);
    expect(said.map(({ length }) => length)).toEqual([2 * (160_000 / 256)]);
  });

  test('does not count empty messages', () => {
    const { said, audio, user, ai } = converse(['answers-noise'], options);
    for (let count = 0; count < 2_000; count += 1) audio.send(Buffer.alloc(0));
    ai(100);
    user(...cough);
    expect(said).toEqual([speech(100)]);
  });

  test('waits as long as the fault that fits this stream says', () => {
    const { said, strikes, user, ai } = converse(
      ['answers-noise:stream=7,delay=9s', 'answers-noise:stream=1,delay=1s'],
      options,
    );
    ai(600);
    user(...cough);
    expect({ said, strikes }).toEqual({ said: [speech(600)], strikes: ['answers-noise'] });
  });

  test('says nothing until a reply begins after it was added', () => {
    const { said, faults, user, ai } = converse([], options);
    ai(100);
    faults.add('answers-noise');
    ai(100);
    user(...cough);
    expect(said).toEqual([]);
    ai(100);
    user(...cough);
    expect(said).toEqual([speech(100)]);
  });
});

test('wrong-rate continues from the last sample of the previous message, struck or not', () => {
  const { audio, left } = converse(['wrong-rate:probability=0.5']);
  // No two messages end alike.
  const rising = Buffer.alloc(40 * 640);
  for (let at = 0; at < rising.length; at += 2) rising.writeInt16LE(at / 2, at);
  const messages = messagesOf(rising);
  for (const pcm of messages) audio.send(pcm);
  const struck = left.flatMap((pcm, at) => (at > 0 && pcm.length !== 640 ? [at] : []));
  expect(struck.length).toBeGreaterThan(5);
  expect(struck.map((at) => left[at]?.readInt16LE(0))).toEqual(
    struck.map((at) => messages[at - 1]?.readInt16LE(638)),
  );
});

import { describe, expect, test } from 'vitest';
import { VoicectlError } from '../../../src/kernel/errors.ts';
import type { TurnPlan } from '../../../src/session/conversation/conversation-plan.ts';
import { speechPcm } from '../../helpers/device-audio.ts';
import { silence, speech } from '../../helpers/pcm.ts';
import {
  failure,
  type Script,
  type ScriptedService,
  sourceOf,
  speakInRoomTone,
  startSession,
} from '../../helpers/scripted-session.ts';

/** 1,400 ms: the speech leaves from 400 to 1,380 ms after the turn has begun. */
const clip = () => sourceOf(silence(400), speech(1_000));
const turn = (plan: Partial<TurnPlan> = {}): TurnPlan => ({
  name: undefined,
  say: clip(),
  when: 'after-reply',
  expect: [],
  absent: [],
  ...plan,
});
const first = (plan: Partial<TurnPlan> = {}) => turn({ when: 'connected', ...plan });

/** A conversation that is held to its end. */
async function converse(turns: TurnPlan[], script: Script = {}) {
  const options = { waitMs: 3_000, settleMs: 1_000, conversation: { turns }, ...script.options };
  const session = startSession({ ...script, options });
  await session.finish();
  const verdicts = Object.fromEntries(
    session.summary.verdicts.map(({ name, ok, measured, kind }) => [
      name,
      ok ? measured : `${kind}: ${measured}`,
    ]),
  );
  return { session, verdicts, heard: session.service.heard };
}

/** Replies to each turn: to the one that ended this long after the confirmation, so much later, for so long. */
const replies = (service: ScriptedService, ...times: (readonly [at: number, ms: number])[]) => {
  for (const [at, ms] of times) service.at(at, () => service.speakInTime(speech(ms)));
};
/** When the speech of a turn began and ended, by what the service heard. */
const speechTimes = (heard: ScriptedService['heard']) => {
  const loud = heard.filter(({ pcm }) => pcm.some((byte) => byte !== 0)).map(({ at }) => at);
  return loud.filter((at, index) => index === 0 || at - (loud[index - 1] ?? 0) > 20);
};

describe('a turn is spoken', () => {
  test('when connected, and the next once the reply has ended', async () => {
    const { session, heard, verdicts } = await converse([first(), turn()], {
      onLive: (service) => replies(service, [2_000, 500], [6_000, 500]),
    });
    expect(session.outcome).toBe('ok');
    // The reply ends at 2,480 and has settled at 3,480: the next frame but one is the first of the clip.
    expect(speechTimes(heard)).toEqual([400, 3_500 + 400]);
    expect(verdicts).toEqual({
      'turn 1: said': '0 ms into the stream',
      'turn 2: said': '3480 ms into the stream',
    });
  });

  test('once only background is left of a long reply', async () => {
    const { session, verdicts } = await converse([first(), turn()], {
      options: { frameMs: 100 },
      onLive: speakInRoomTone,
    });
    expect(session.outcome).toBe('ok');
    // The speech of the reply ends at 4,300; what follows has settled 1,000 after the longest background.
    expect(verdicts['turn 2: said']).toBe('35300 ms into the stream');
    const warned = session.of('warning').map(({ code }) => code);
    expect(warned.filter((code) => code === 'background')).toHaveLength(1);
  });

  test.each([
    [
      'all of it came at once',
      (service: ScriptedService) => service.at(2_000, () => service.speak(speech(4_000))),
    ],
    [
      'it waited for this process',
      (service: ScriptedService) => {
        replies(service, [2_000, 500]);
        service.at(2_500, () => {
          service.stop(3_000);
          service.speak(speech(3_000));
          service.speakInTime(speech(500));
        });
      },
    ],
  ])('after the reply has been heard to its end, even if %s', async (_, reply) => {
    const limits = { 'max-response': 1_500, 'max-talk-over': 0 };
    const { session, verdicts } = await converse([first(limits), turn(limits)], {
      onLive(service) {
        reply(service);
        replies(service, [8_300, 500]);
      },
    });
    expect(session.outcome).toBe('ok');
    expect(verdicts['turn 2: max-talk-over']).toBe('0 ms');
  });

  test('once the reply has been heard, if the service sends silence before it', async () => {
    const { session, heard, verdicts } = await converse(
      [first({ 'max-response': 3_000 }), turn({ when: { duringReplyMs: 600 } })],
      {
        onLive: (service) =>
          service.at(0, () =>
            service.speakInTime(Buffer.concat([silence(4_000), speech(2_000), silence(2_000), speech(500)])),
          ),
      },
    );
    expect(session.outcome).toBe('ok');
    expect(speechTimes(heard)).toEqual([400, 4_620 + 400]);
    expect(verdicts['turn 1: max-response']).toBe('2600 ms');
  });

  test('not at all if all of the reply is silent', async () => {
    const { verdicts } = await converse([first(), turn()], {
      onLive: (service) => service.at(0, () => service.speakInTime(silence(8_000))),
    });
    expect(verdicts['turn 2: said']).toBe('turn-skipped: not spoken: no reply started');
  });

  test('while the AI speaks', async () => {
    const { session, heard } = await converse([first(), turn({ when: { duringReplyMs: 600 } })], {
      onLive: (service) => replies(service, [1_700, 3_000], [6_000, 200]),
    });
    expect(session.outcome).toBe('ok');
    expect(speechTimes(heard)[1]).toBe(2_320 + 400);
  });

  test('some time after the previous clip', async () => {
    const { heard } = await converse([first(), turn({ when: { afterMs: 500 } })], {
      onLive: (service) => replies(service, [4_400, 200]),
    });
    expect(speechTimes(heard)[1]).toBe(1_380 + 500 + 20 + 400);
  });

  test('after a greeting of the service', async () => {
    const { session, heard } = await converse([turn()], {
      onLive: (service) => replies(service, [100, 400], [4_000, 200]),
    });
    expect(session.outcome).toBe('ok');
    expect(speechTimes(heard)).toEqual([480 + 1_000 + 20 + 400]);
  });

  test('with silence before and after it, frame by frame without a gap', async () => {
    const { heard } = await converse([first(), turn()], {
      onLive: (service) => replies(service, [2_000, 500], [6_000, 500]),
    });
    expect(heard.every(({ at, pcm }, index) => at === index * 20 && pcm.length === 640)).toBe(true);
  });

  test('not at all if the reply that it waits for never begins: then it and all later turns fail', async () => {
    const { session, verdicts } = await converse([first(), turn({ name: 'second' }), turn()]);
    expect(session.outcome).toMatchObject({ code: 'expectation-failed', details: { kind: 'turn-skipped' } });
    expect(verdicts).toEqual({
      'turn 1: said': '0 ms into the stream',
      'turn 2 (second): said': 'turn-skipped: not spoken: no reply started',
      'turn 3: said': 'turn-skipped: not spoken: the session ended first',
    });
    expect(session.summary.elapsedMs).toBeLessThan(1_400 + 3_000 + 100);
  });

  test('not at all if the AI stops speaking before it can be interrupted', async () => {
    const { verdicts } = await converse([first(), turn({ when: { duringReplyMs: 600 } })], {
      onLive: (service) => replies(service, [1_700, 200]),
    });
    expect(verdicts['turn 2: said']).toBe('turn-skipped: not spoken: the AI spoke for only 200 ms');
  });

  test('while the AI can still be heard, even if all of its audio came at once', async () => {
    const { session } = await converse([first(), turn({ when: { duringReplyMs: 600 } })], {
      onLive: (service) => {
        service.at(1_700, () => service.speak(speech(2_000)));
        replies(service, [6_000, 200]);
      },
    });
    expect(session.outcome).toBe('ok');
  });

  test('while the AI can still be heard after a pause', async () => {
    const { session } = await converse([first(), turn({ when: { duringReplyMs: 4_500 } })], {
      onLive: (service) => {
        replies(service, [1_700, 1_000]);
        service.at(5_700, () => service.speak(speech(1_000)));
        replies(service, [10_000, 200]);
      },
    });
    expect(session.outcome).toBe('ok');
  });

  test('not at all if the service drops the audio that would still be heard', async () => {
    const { verdicts } = await converse([first(), turn({ when: { duringReplyMs: 2_000 } })], {
      onLive: (service) => {
        service.at(1_700, () => service.speak(speech(5_000)));
        service.at(2_700, () => service.say({ type: 'interrupted' }));
      },
    });
    expect(verdicts['turn 2: said']).toBe('turn-skipped: not spoken: the AI spoke for only 1000 ms');
  });

  test('only partly if the service closes the stream during it', async () => {
    const { session, verdicts } = await converse([first()], {
      onLive: (service) => service.at(700, () => service.close(1000)),
    });
    expect(session.outcome).toMatchObject({ exitCode: 1 });
    expect(verdicts['turn 1: said']).toBe(
      'turn-skipped: 0 ms into the stream, but the session ended before all of it was spoken',
    );
  });

  test.each([
    ['in a long pause of it has not left it without a reply', 5_900, '400 ms'],
    ['after it has', 6_700, 'no-reply: no reply'],
  ])('and a service that closes the stream %s', async (_when, closeAt, measured) => {
    // It leaves from 3,500 ms on: a word up to 4,400, a pause, and another word from 6,000 up to 6,500.
    const paused = sourceOf(silence(400), speech(500), silence(1_600), speech(500));
    const { verdicts } = await converse([first(), turn({ say: paused })], {
      options: { expectations: { 'max-response': 1_000 } },
      onLive(service) {
        replies(service, [1_800, 680]);
        service.at(closeAt, () => service.close(1000));
      },
    });
    expect(verdicts['max-response']).toBe(measured);
  });

  test('not at all after the stream breaks, which is the failure', async () => {
    const { session, verdicts } = await converse([first(), turn()], {
      onLive: (service) => service.at(1_800, () => service.close(1011, '', failure('stream-broken'))),
    });
    expect(session.outcome).toMatchObject({ code: 'stream-broken' });
    expect(verdicts['turn 2: said']).toContain('the session ended first');
  });
});

describe('the reply to a turn', () => {
  test.each([1, 0.1])('is measured from the end of speech, at a pace of %d', async (pace) => {
    const { verdicts } = await converse([first({ 'max-first-audio': 500 })], {
      options: { pace },
      // The last frame with speech leaves at 1,380 ms of audio.
      onLive: (service) => replies(service, [1_380 / pace + 400, 1_000]),
    });
    expect(verdicts['turn 1: max-first-audio']).toBe('400 ms');
  });

  test('is measured from the end of its speech', async () => {
    const limits = {
      'expect-audio': 500,
      'expect-audible': 500,
      'max-audio': 500,
      'max-first-audio': 620,
      'max-gap': 20,
      'max-jitter': 1,
    };
    const { session, verdicts } = await converse([first(limits), turn({ 'max-first-audio': 1_000 })], {
      onLive: (service) => replies(service, [2_000, 500], [6_000, 300]),
    });
    expect(session.outcome).toMatchObject({ details: { kind: 'late-audio' } });
    expect(verdicts).toEqual({
      'turn 1: said': '0 ms into the stream',
      'turn 1: expect-audio': '500 ms',
      'turn 1: expect-audible': '500 ms',
      'turn 1: max-audio': '500 ms',
      'turn 1: max-first-audio': '620 ms',
      'turn 1: max-gap': '20 ms',
      'turn 1: max-jitter': '0 ms',
      'turn 2: said': '3480 ms into the stream',
      // Its speech ends 1,380 ms after its first frame, at 3,500.
      'turn 2: max-first-audio': `late-audio: ${6_000 - 3_500 - 1_380} ms`,
    });
  });

  test('does not include the rest of the previous reply', async () => {
    const { verdicts } = await converse(
      [first(), turn({ when: { duringReplyMs: 200 }, 'expect-audio': 0 })],
      {
        onLive: (service) => replies(service, [1_700, 1_000]),
      },
    );
    expect(verdicts['turn 2: expect-audio']).toBe('too-little-audio: 0 ms');
  });

  test('is all that its judge hears, from its first whole sample on', async () => {
    let heard: Buffer = Buffer.alloc(0);
    const judge = {
      text: 'the judge',
      async run(pcm: Buffer) {
        heard = pcm;
        return { ok: true, says: 'yes' };
      },
    };
    const reply = speech(300);
    await converse([first(), turn({ when: { duringReplyMs: 200 }, judge })], {
      onLive(service) {
        // The old reply goes on until the user is heard, and has an odd number of bytes.
        service.at(1_700, () => service.speakInTime(Buffer.concat([speech(1_000), Buffer.alloc(1)])));
        service.at(5_000, () => service.speak(Buffer.concat([Buffer.alloc(1), reply.subarray(0, 639)])));
        service.at(5_020, () => service.speak(reply.subarray(639)));
      },
    });
    expect(heard.equals(reply)).toBe(true);
  });

  test('counts even if it came while the gate still waited for the pause', async () => {
    const { verdicts } = await converse([first({ 'max-first-audio': 100, 'expect-audio': 400 })], {
      onLive: (service) => replies(service, [1_440, 400]),
    });
    expect(verdicts).toMatchObject({ 'turn 1: max-first-audio': '60 ms', 'turn 1: expect-audio': '400 ms' });
  });

  test('to a turn in which nobody speaks is measured from its end', async () => {
    const { verdicts } = await converse([first({ say: sourceOf(silence(500)), 'max-first-audio': 1_000 })], {
      onLive: (service) => replies(service, [800, 200]),
    });
    expect(verdicts['turn 1: max-first-audio']).toBe(`${800 - 480} ms`);
  });

  test('to a turn that only listens is measured from its beginning', async () => {
    const { verdicts } = await converse([first({ say: undefined, 'max-first-audio': 1_000 })], {
      onLive: (service) => replies(service, [300, 200]),
    });
    expect(verdicts['turn 1: max-first-audio']).toBe('300 ms');
  });
});

describe('what must follow a turn', () => {
  const event = (where = {}, withinMs: number | undefined = undefined) =>
    ({ type: 'event', event: { kind: 'status', where }, withinMs }) as const;
  const statusAt =
    (ms: number, fields = {}) =>
    (service: ScriptedService) => {
      service.at(ms, () => service.say({ type: 'status', ...fields }));
      replies(service, [1_800, 200]);
    };

  test.each([
    ['an event', event(), {}, 1_900, 'after 520 ms'],
    ['an event in time', event({}, 520), {}, 1_900, 'after 520 ms'],
    ['an event too late', event({}, 519), {}, 1_900, 'missing-event: after 520 ms'],
    ['an event before the speech has ended', event({}, 0), {}, 1_000, '380 ms before'],
    ['an event with a field', event({ status: 'a' }), { status: 'a' }, 1_900, 'after 520 ms'],
    [
      'an event of another kind',
      event({ status: 'a' }),
      { type: 'x' },
      1_900,
      'missing-event: never in 3000 ms',
    ],
    [
      'an event whose field is another',
      event({ status: 'a' }, 1_000),
      { status: 'b' },
      1_900,
      'wrong-field: status is "b" in 1000 ms',
    ],
  ])('%s', async (_what, expected, fields, at, measured) => {
    const { verdicts } = await converse([first({ expect: [expected] })], { onLive: statusAt(at, fields) });
    expect(verdicts['turn 1: expect event']).toBe(measured);
  });

  test('may come after the next turn has begun', async () => {
    const turns = [first({ expect: [event({}, 6_000)] }), turn()];
    const { session, verdicts } = await converse(turns, {
      onLive: (service) => {
        replies(service, [1_800, 200], [5_500, 200]);
        service.at(4_000, () => service.say({ type: 'status' }));
      },
    });
    expect(session.outcome).toBe('ok');
    expect(verdicts['turn 1: expect event']).toBe('after 2620 ms');
  });

  test.each([
    [500, 1_600, 'after 1100 ms'],
    [500, 1_099, 'late-audio: after 1100 ms'],
    [801, 3_000, 'too-little-audio: never in 3000 ms'],
    [0, 620, 'after 620 ms'],
  ])('%i ms of AI audio within %i ms: %s', async (audioMs, withinMs, measured) => {
    const { verdicts } = await converse([first({ expect: [{ type: 'audio', audioMs, withinMs }] })], {
      // Its messages are of 20 ms: 500 ms of it are there with the one that comes at 2,480.
      onLive: (service) => replies(service, [2_000, 800]),
    });
    expect(verdicts['turn 1: expect audio']).toBe(measured);
  });

  const bargeIn = (stopsAfterMs: number) =>
    converse(
      [
        first(),
        turn({
          when: { duringReplyMs: 600 },
          expect: [{ type: 'silence', silenceMs: 300, withinMs: 500 }],
        }),
      ],
      // The turn begins at 2,320, its speech at 2,720.
      { onLive: (service) => replies(service, [1_700, 2_720 + stopsAfterMs - 1_700], [6_500, 100]) },
    );

  test('may be that the AI falls silent when it is interrupted', async () => {
    const { session, verdicts } = await bargeIn(400);
    expect(verdicts['turn 2: expect silence']).toBe('after 400 ms');
    expect(session.outcome).toBe('ok');
  });

  test('is not met by silence at the end of the reply', async () => {
    const { session, verdicts } = await bargeIn(700);
    expect(verdicts['turn 2: expect silence']).toBe('not-interrupted: after 700 ms');
    expect(session.outcome).toMatchObject({ exitCode: 1 });
  });

  test.each([
    ['goes on to be heard', undefined, 'not-interrupted: after 2980 ms'],
    ['is dropped by a message', 3_000, 'after 280 ms'],
  ])(
    'is not that nothing comes any more, while what was sent ahead %s',
    async (_what, droppedAt, measured) => {
      const expect_ = [{ type: 'silence', silenceMs: 300, withinMs: 500 }] as const;
      const { verdicts } = await converse(
        [first(), turn({ when: { duringReplyMs: 600 }, expect: expect_ })],
        {
          onLive(service) {
            service.at(1_700, () => service.speak(speech(4_000)));
            if (droppedAt !== undefined)
              service.at(droppedAt, () => service.say({ type: 'status', status: 'interrupted' }));
            replies(service, [8_000, 100]);
          },
        },
      );
      expect(verdicts['turn 2: expect silence']).toBe(measured);
    },
  );

  test('is also waited for after the reply', async () => {
    const { session } = await converse([first({ expect: [event({}, 8_000)] })], { onLive: statusAt(9_000) });
    expect(session.outcome).toBe('ok');
  });

  test('is not judged if it may be late only because this process did not run', async () => {
    const { verdicts } = await converse(
      [
        first({
          'max-first-audio': 1_000,
          'max-response': 1_000,
          expect: [{ type: 'audio', audioMs: 0, withinMs: 1_000 }, event({}, 1_000)],
        }),
      ],
      {
        onLive(service) {
          service.at(1_600, () => service.stop(2_000));
          service.at(1_800, () => {
            service.say({ type: 'status' });
            service.speakInTime(speech(400));
          });
        },
      },
    );
    const notJudged = expect.stringMatching(
      /^not judged: .*24[02]0 ms, but this process did not run for \d+ ms$/,
    );
    expect(verdicts).toMatchObject({
      'turn 1: max-first-audio': notJudged,
      'turn 1: max-response': notJudged,
      'turn 1: expect audio': notJudged,
      'turn 1: expect event': notJudged,
    });
  });
});

describe('a reply that ends in the middle of a sound', () => {
  /** 2.5 s, until 4,480 ms. */
  const cut = speechPcm.subarray(0, 80_000);

  test.each([
    ['is not clean', undefined, 'unclean-audio: cut-off at 2.48 s'],
    ['is clean if the service says that it was interrupted', 4_490, 'nothing found'],
  ])('%s', async (_what, interruptedAt, measured) => {
    const { verdicts } = await converse([first({ clean: 'findings' })], {
      onLive(service) {
        service.at(2_000, () => service.speakInTime(cut));
        if (interruptedAt !== undefined)
          service.at(interruptedAt, () => service.say({ type: 'status', status: 'interrupted' }));
      },
    });
    expect(verdicts['turn 1: expect-clean']).toBe(measured);
  });

  test('is clean if this process did not run until the rest of it came', async () => {
    const { verdicts } = await converse([first({ clean: 'findings' })], {
      onLive(service) {
        service.at(2_000, () => service.speakInTime(speechPcm));
        service.at(4_490, () => service.stop(2_000));
      },
    });
    expect(verdicts['turn 1: expect-clean']).toBe('nothing found');
  });
});

test('a sound that is not a turn is watched until a late reply to it would have begun', async () => {
  const cough = turn({ expect: [{ type: 'hold', holdMs: 300, withinMs: undefined }] });
  const { session, verdicts } = await converse([first(), cough], {
    // Its speech ends at 3,500 + 1,380.
    onLive: (service) => replies(service, [2_000, 500], [6_700, 500]),
  });
  expect(session.outcome).toMatchObject({ details: { kind: 'answers-noise' } });
  expect(verdicts['turn 2: expect hold']).toMatch(/^answers-noise: the AI replied after 18\d\d ms$/);
});

describe('what must be absent', () => {
  test.each([
    ['AI audio that comes', { type: 'audio' }, 300, 'unexpected-audio: AI audio'],
    ['AI audio that does not come', { type: 'audio' }, 0, 'none'],
  ] as const)('%s', async (_what, absence, ms, measured) => {
    const { session, verdicts } = await converse([first({ absent: [absence] })], {
      onLive: (service) => replies(service, [2_000, ms]),
    });
    expect(verdicts['turn 1: absent audio']).toBe(measured);
    // The absence was looked for as long as a reply is waited for.
    if (ms === 0) expect(session.summary.elapsedMs).toBeGreaterThanOrEqual(1_380 + 3_000);
  });

  test('AI audio between two sentences of the turn counts', async () => {
    const say = sourceOf(speech(600), silence(1_500), speech(600));
    const { verdicts } = await converse([first({ say, absent: [{ type: 'audio' }] })], {
      onLive: (service) => replies(service, [1_400, 300]),
    });
    expect(verdicts['turn 1: absent audio']).toBe('unexpected-audio: AI audio');
  });

  test('AI audio that cannot be heard does not count', async () => {
    const { verdicts } = await converse([first({ absent: [{ type: 'audio' }] })], {
      onLive: (service) => service.at(2_000, () => service.speakInTime(silence(500))),
    });
    expect(verdicts['turn 1: absent audio']).toBe('none');
  });

  test('does not count as absent if the service had no time to send it', async () => {
    const absent = [{ type: 'audio' }, { type: 'event', event: { kind: 'error', where: {} } }] as const;
    const { session, verdicts } = await converse([first({ absent })], {
      onLive: (service) => service.at(2_000, () => service.close(1000)),
    });
    expect(session.outcome).toMatchObject({ exitCode: 1 });
    const measured = 'turn-skipped: none, but the session ended before a reply could come';
    expect(verdicts).toMatchObject({ 'turn 1: absent audio': measured, 'turn 1: absent event': measured });
  });

  test('may be an event within the turn, but not in the next one', async () => {
    const absent = [{ type: 'event', event: { kind: 'error', where: {} } }] as const;
    const turns = [first({ absent }), turn({ absent })];
    const { verdicts } = await converse(turns, {
      onLive: (service) => {
        replies(service, [1_800, 200], [5_500, 200]);
        for (const at of [4_000, 4_100]) service.at(at, () => service.say({ type: 'error', error: {} }));
      },
    });
    expect(verdicts).toMatchObject({
      'turn 1: absent event': 'none',
      'turn 2: absent event': 'forbidden-event: 2 times',
    });
  });
});

test('the limits of the whole session are also judged in a conversation, after the limits of its turns', async () => {
  const options = { expectations: { 'expect-audio': 700, closeCode: 1000 } };
  const { session } = await converse([first(), turn()], {
    options,
    onLive: (service) => replies(service, [2_000, 500], [6_000, 300]),
  });
  expect(session.outcome).not.toBeInstanceOf(VoicectlError);
  expect(session.summary.verdicts.map(({ name }) => name)).toEqual([
    'turn 1: said',
    'turn 2: said',
    'expect-audio',
    'expect-close',
  ]);
});

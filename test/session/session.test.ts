import { describe, expect, test } from 'vitest';
import { VoicectlError } from '../../src/kernel/errors.ts';
import type { SessionEvent } from '../../src/session/events.ts';
import type { SessionNotice } from '../../src/session/options.ts';
import type { AudioSink } from '../../src/session/output.ts';
import { runSession } from '../../src/session/session.ts';
import { createCountedClock } from '../helpers/counted-clock.ts';
import { speechPcm } from '../helpers/device-audio.ts';
import { framesOf, silence, speech } from '../helpers/pcm.ts';
import {
  defaultOptions,
  failure,
  type Script,
  type ScriptedService,
  sourceOf,
  speakInRoomTone,
  startSession,
} from '../helpers/scripted-session.ts';

const utterance = () => sourceOf(silence(400), speech(1_000));

/** A session that is run to its end. */
async function run(script: Script = {}) {
  const session = startSession({ ...script, options: { source: utterance(), ...script.options } });
  await session.finish();
  return session;
}

const codeOf = (outcome: 'running' | 'ok' | VoicectlError) =>
  outcome instanceof VoicectlError ? outcome.code : outcome;

const warnings = (events: SessionEvent[]) =>
  events.flatMap((event) => (event.type === 'warning' ? [event.code] : []));

describe('a session', () => {
  test('is shown with the name of its device, unless that is the API key', async () => {
    const shown = async (device: string) => {
      const { events, summary } = await run({ options: { device } });
      return [events[0], summary].map((event) => event && 'device' in event && event.device);
    };
    expect(await shown('lamp-key-1')).toEqual(['lamp-key-1', 'lamp-key-1']);
    expect(await shown('key-1')).toEqual(['[redacted]', '[redacted]']);
  });

  test('emits its steps in order, with times that never go back, and the summary last', async () => {
    const session = await run({
      onLive: (service) => service.at(2_500, () => service.speakInTime(speech(400))),
    });
    expect(session.outcome).toBe('ok');
    const steps = session.events.filter(({ type }) => type !== 'figures' && type !== 'audio');
    expect(steps.map((event) => (event.type === 'state' ? event.state : event.type))).toEqual(
      [
        'session',
        'token',
        'token',
        'connecting',
        'authorising',
        'message',
        'live',
        'speech',
        'speech',
        'draining',
        'closed',
        'summary',
      ].toSpliced(-2, 0, 'close'),
    );
    const times = session.events.map(({ t }) => t);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(session.service.token).toBe('t.o.k');
    expect(session.clock.pending.filter((ms) => ms < 60_000)).toEqual([]);
  });

  test('sends the source byte for byte, each frame when it is due, and then silence', async () => {
    const pcm = Buffer.concat([silence(400), speech(1_000)]);
    const session = await run({ onLive: (service) => service.at(2_000, () => service.speak(speech(20))) });
    const { heard } = session.service;
    expect(
      Buffer.concat(heard.map((one) => one.pcm))
        .subarray(0, pcm.length)
        .equals(pcm),
    ).toBe(true);
    expect(heard.every((one) => one.pcm.length === 640)).toBe(true);
    expect(heard.every(({ at }, index) => at === index * 20)).toBe(true);
    expect(heard.slice(70).every((one) => one.pcm.every((byte) => byte === 0))).toBe(true);
    const { out, sendLatenessMs } = session.summary;
    expect(out.frames).toBe(heard.length);
    expect(sendLatenessMs?.max).toBeLessThanOrEqual(0.1);
  });

  test('measures to the millisecond', async () => {
    const session = await run({
      onLive: (service) => {
        // The last frame with speech leaves at 1,380. Messages of 20 ms, the fourth of them 30 ms late.
        for (const at of [1_900, 1_920, 1_940, 1_990, 2_000, 2_020])
          service.at(at, () => service.speak(speech(20)));
      },
    });
    expect(session.summary).toMatchObject({
      ok: true,
      device: 'device-1',
      tokenMs: 5,
      connectMs: 0,
      authoriseMs: 0,
      firstAudioMs: 520,
      longestGapMs: 50,
      jitterMs: { p50: 0, max: 30 },
      in: { frames: 6, bytes: 3_840, audioMs: 120 },
      events: { service_voice_connected: 1 },
      rateLimit: { limit: 60, remaining: 59, resetAtMs: 60_000 },
      close: { code: 1000, reason: '', name: 'normal' },
      verdicts: [],
    });
    // It settled for 1,500 ms after the last audio.
    expect(session.summary.elapsedMs).toBe(2_020 + 1_500);
  });

  test('does not count as late what a recording has from before the confirmation', async () => {
    const messages = [-1_000, -980, 0, 20].map((atMs) => ({ atMs, pcm: speech(20) }));
    const { summary } = await run({ options: { source: { ...sourceOf(), messages }, waitMs: 0 } });
    expect(summary.out.frames).toBe(4);
    expect(summary.sendLatenessMs?.max).toBeLessThanOrEqual(0.1);
  });

  test('emits speech when it is sent, and its end even if the source stops during it', async () => {
    const session = await run({ options: { tailMs: 0, waitMs: 0 } });
    expect(session.of('speech').map(({ state, audioMs }) => [state, audioMs])).toEqual([
      ['start', 400],
      ['end', 1_400],
    ]);
  });

  test('with a given token requests none', async () => {
    const session = await run({
      options: { auth: { token: 'given' }, waitMs: 0 },
      requestToken: () => Promise.reject(new Error('asked')),
    });
    expect([session.outcome, session.service.token, session.summary.tokenMs]).toEqual(['ok', 'given', null]);
  });

  test('warns that the source was converted', async () => {
    const source = utterance();
    const session = await run({
      options: { source: { ...source, description: { ...source.description, converted: true } }, waitMs: 0 },
    });
    expect(warnings(session.events)).toEqual(['converted']);
  });
});

describe('the reply', () => {
  test('that comes while the gate is still open is measured, and awaited to its end', async () => {
    const session = await run({
      onLive: (service) => service.at(1_500, () => service.speakInTime(speech(500))),
    });
    expect(session.summary).toMatchObject({ firstAudioMs: 120, in: { audioMs: 500 } });
    expect(session.summary.elapsedMs).toBe(1_500 + 480 + 1_500);
  });

  test('of an echo ends although its silence does not', async () => {
    const session = await run({
      onAudio: (pcm, service) => service.clock.after(8, () => service.speak(pcm)),
    });
    expect(session.outcome).toBe('ok');
    expect(session.summary.firstAudioMs).toBe(8);
    expect(session.summary.elapsedMs).toBeLessThan(1_400 + 1_600);
  });

  test('is awaited through silence, and ends although the silence after it does not', async () => {
    const session = await run({
      onLive: (service) =>
        service.at(100, () =>
          service.speakInTime(Buffer.concat([silence(3_900), speech(500), silence(60_000)])),
        ),
    });
    expect([session.outcome, warnings(session.events)]).toEqual(['ok', []]);
    expect(session.summary.audibleMs).toBe(500);
    expect(session.summary.dialogue?.turns[0]?.responseMs).toBe(4_000 - 1_400);
    expect(session.summary.elapsedMs).toBe(4_480 + 1_500);
  });

  test.each([4, 'max'] as const)(
    'is not compared with speech that was sent at a pace of %s',
    async (pace) => {
      const { summary } = await run({
        options: { pace, expectations: { 'max-response': 3_000, 'max-talk-over': 10 } },
        onLive: (service) => service.at(700, () => service.speakInTime(speech(1_000))),
      });
      const skipped = {
        ok: true,
        skipped: true,
        measured: 'not judged: the audio was not sent in real time',
      };
      expect(summary.verdicts).toMatchObject([
        { name: 'max-response', ...skipped },
        { name: 'max-talk-over', ...skipped },
      ]);
      expect(summary.dialogue?.figures).toMatchObject({ earlyReplies: 0, overlapMs: 0 });
    },
  );

  test('that is endless silence is waited for, and then causes a warning', async () => {
    const session = await run({
      options: { waitMs: 3_000 },
      onLive: (service) => service.at(1_800, () => service.speakInTime(silence(60_000))),
    });
    expect([session.outcome, warnings(session.events)]).toEqual(['ok', ['no-reply']]);
    expect(session.summary.elapsedMs).toBe(1_380 + 3_000);
  });

  test('may pause for less than the settle time', async () => {
    const session = await run({
      options: { settleMs: 500 },
      onLive: (service) => {
        for (const at of [2_000, 2_480, 2_960]) service.at(at, () => service.speakInTime(speech(20)));
        service.at(3_600, () => service.speakInTime(speech(20)));
      },
    });
    expect(session.summary.in.frames).toBe(3);
    expect(session.summary.elapsedMs).toBe(2_960 + 500);
  });

  test('that does not come is waited for, and then causes a warning', async () => {
    const session = await run({ options: { waitMs: 3_000 } });
    expect([session.outcome, warnings(session.events)]).toEqual(['ok', ['no-reply']]);
    expect(session.summary.firstAudioMs).toBeNull();
    expect(session.clock.now()).toBeLessThan(1_400 + 3_000 + 100);
  });

  test('is judged if this process did not run before it was awaited, and not if it did not run meanwhile', async () => {
    const judge = async (stopAt: number, limitMs = 1_000) => {
      const { summary } = await run({
        options: { expectations: { 'max-first-audio': limitMs, 'max-gap': 100 } },
        onLive(service) {
          service.at(stopAt, () => service.stop(900));
          service.at(2_300, () => service.speakInTime(speech(500)));
        },
      });
      return summary.verdicts.map(({ measured }) => measured);
    };
    expect(await judge(500, 800)).toEqual(['920 ms', '20 ms']);
    expect(await judge(1_600)).toEqual([
      expect.stringMatching(/^not judged: 1820 ms, but this process did not run for \d+ ms$/),
      '20 ms',
    ]);
    expect(await judge(2_310)).toEqual([
      '920 ms',
      expect.stringMatching(/^not judged: 920 ms, but this process did not run for \d+ ms$/),
    ]);
  });

  test('is awaited for the whole time again if this process did not run', async () => {
    const session = await run({
      onLive(service) {
        service.at(1_600, () => service.stop(11_000));
        service.at(2_100, () => service.speak(speech(20)));
      },
    });
    expect([session.outcome, warnings(session.events)]).toEqual(['ok', ['late']]);
    expect(session.summary.in.frames).toBe(1);
  });

  test('is neither waited for nor missed if the given time is 0', async () => {
    const session = await run({ options: { waitMs: 0 } });
    expect(warnings(session.events)).toEqual([]);
    expect(session.summary.out.frames).toBeLessThan(75);
  });

  test('to a source without speech is any audio', async () => {
    const session = await run({
      options: { source: sourceOf(silence(500)) },
      onLive: (service) => service.at(700, () => service.speak(speech(20))),
    });
    expect(session.summary).toMatchObject({ firstAudioMs: null, in: { frames: 1 }, elapsedMs: 2_200 });
    expect(warnings(session.events)).toEqual([]);
  });

  test('is awaited to its end after an empty source', async () => {
    const session = await run({
      options: { source: sourceOf() },
      onLive: (service) => service.at(100, () => service.speak(speech(20))),
    });
    expect(session.summary.in.frames).toBe(1);
  });
});

test.each([
  ['of a file as it is', utterance(), 'max', { pace: 'max' }],
  ['of real time not at all', utterance(), 1, {}],
  ['of a microphone not at all: its own clock sets it', { ...utterance(), isLive: true }, 'max', {}],
] as const)('the pace is reported %s', async (_what, source, pace, told) => {
  const { events } = await run({ options: { source, pace, waitMs: 100 } });
  const [first] = events;
  expect(first?.type).toBe('session');
  expect(first !== undefined && 'pace' in first ? { pace: first.pace } : {}).toEqual(told);
});

describe('the tail', () => {
  test('is sent completely if its length is given, and the reply is awaited without more silence', async () => {
    const session = await run({
      options: { tailMs: 1_010 },
      onLive: (service) => service.at(3_000, () => service.speak(speech(20))),
    });
    // 70 frames of the source, 50 of silence, and a last one that is filled up.
    expect(session.summary.out.frames).toBe(70 + 51);
    expect(session.summary.in.frames).toBe(1);
  });

  test('is sent in real time even if the source was sent at once', async () => {
    const session = await run({
      options: { pace: 'max', tailMs: 200 },
      onLive: (service) => service.at(600, () => service.speak(speech(20))),
    });
    const tail = session.service.heard.slice(70).map(({ at }) => at);
    expect(session.service.heard[69]!.at).toBe(0);
    expect(tail).toEqual(Array.from({ length: 10 }, (_, i) => i * 20));
  });

  test('keeps the pace of a source that was slower or faster than real time', async () => {
    const session = await run({
      options: { pace: 2, tailMs: 100 },
      onLive: (service) => service.at(1_500, () => service.speak(speech(20))),
    });
    expect(session.service.heard.at(-1)!.at).toBe(740);
  });

  test('and the wait for the reply stop if the socket stalls, and nothing follows the summary', async () => {
    let calls = 0;
    const session = await run({
      options: { waitMs: 1_000 },
      drained: async (service) => {
        calls += 1;
        if (calls <= 72) return;
        await new Promise((_, reject) => {
          service.clock.after(500, () => reject(failure('timed-out')));
        });
      },
    });
    expect(codeOf(session.outcome)).toBe('timed-out');
    await session.clock.run(5_000);
    expect(session.events.at(-1)?.type).toBe('summary');
    expect(warnings(session.events)).toEqual([]);
    expect(session.clock.pending).toEqual([]);
  });
});

test('room tone that never ends does not keep a session from its end, and is warned of', async () => {
  const session = await run({ options: { frameMs: 100 }, onLive: speakInRoomTone });
  expect([session.outcome, warnings(session.events)]).toEqual(['ok', ['background']]);
  // The last frame with speech leaves at 1,300, and a reply may begin for 10 s.
  expect(session.summary.elapsedMs).toBe(1_300 + 10_000 + 30_000 + 1_500);
});

describe('its duration', () => {
  test('is as set if the source is repeated', async () => {
    const session = await run({ options: { loop: true, durationMs: 5_000, source: sourceOf(speech(300)) } });
    expect(session.outcome).toBe('ok');
    expect(session.summary).toMatchObject({ ok: true, elapsedMs: 5_000, close: { code: 1000 } });
    expect(session.summary.out.frames).toBe(250);
    // The repetitions follow one another without a gap.
    const sent = Buffer.concat(session.service.heard.map(({ pcm }) => pcm));
    const once = speech(300);
    expect(sent.subarray(once.length, 2 * once.length).equals(once)).toBe(true);
  });

  test('may end in the middle of the source or of the reply', async () => {
    const early = await run({ options: { durationMs: 100 } });
    expect([early.outcome, early.summary.out.frames]).toEqual(['ok', 5]);
    const later = await run({
      options: { durationMs: 2_000 },
      onLive: (service) => service.at(1_600, () => service.speakInTime(speech(5_000))),
    });
    expect([later.outcome, later.summary.elapsedMs]).toEqual(['ok', 2_000]);
  });

  test('is not changed by a source that cannot be repeated', async () => {
    const session = await run({
      options: { loop: true, waitMs: 0, source: { ...utterance(), repeatable: false } },
    });
    expect(session.outcome).toBe('ok');
  });
});

describe('an end by the service', () => {
  test('with 1000 is not a failure, but a warning', async () => {
    const session = await run({ onLive: (service) => service.at(500, () => service.close(1000, 'goodbye')) });
    expect([session.outcome, warnings(session.events)]).toEqual(['ok', ['closed-early']]);
    expect(session.summary).toMatchObject({ ok: true, close: { code: 1000, reason: 'goodbye' } });
    expect(session.service.heard.length).toBeLessThan(27);
  });

  const lateTurn = sourceOf(silence(400), speech(1_000), silence(3_000), speech(1_000));
  const lateTurnAndSilence = sourceOf(
    silence(400),
    speech(1_000),
    silence(3_000),
    speech(1_000),
    silence(5_000),
  );
  const unanswered = ['expectation-failed', 'no reply'] as const;

  test.each([
    ['instead of the last reply fails `max-response`', 5_800, { source: lateTurn }, ...unanswered],
    ['in the silence after the last turn does too', 6_300, { source: lateTurnAndSilence }, ...unanswered],
    ['during the last turn does not', 5_000, { source: lateTurn }, 'ok', '800 ms'],
    ['in what may be a pause of that turn does not', 5_800, { source: lateTurnAndSilence }, 'ok', '800 ms'],
    [
      'that the end of the duration precedes does not',
      5_800,
      { source: lateTurn, durationMs: 5_700 },
      'ok',
      '800 ms',
    ],
  ] as const)('%s', async (_what, closeAt, options, outcome, measured) => {
    const session = await run({
      options: { ...options, expectations: { 'max-response': 2_000 } },
      onLive(service) {
        service.at(2_200, () => service.speakInTime(speech(600)));
        service.at(closeAt, () => service.close(1000));
      },
    });
    expect(codeOf(session.outcome)).toBe(outcome);
    expect(session.summary.verdicts).toMatchObject([{ name: 'max-response', measured }]);
  });

  test.each([
    [1011, 'stream-broken', 6],
    [1006, 'stream-broken', 6],
    [4000, 'service-error', 6],
    [1006, 'timed-out', 7],
  ] as const)('with %i as %s is that failure', async (close, code, exitCode) => {
    const session = await run({
      onLive: (service) => service.at(500, () => service.close(close, 'oops', failure(code))),
    });
    expect(session.outcome).toMatchObject({ code, exitCode });
    expect(session.summary).toMatchObject({ ok: false, close: { code: close } });
    expect(session.events.at(-1)?.type).toBe('summary');
  });

  test('right at the confirmation is noticed', async () => {
    const session = await run({ onLive: (service) => service.close(1011, '', failure('stream-broken')) });
    expect(codeOf(session.outcome)).toBe('stream-broken');
  });
});

describe('what it expects', () => {
  const reply: Script['onLive'] = (service) => service.at(1_900, () => service.speakInTime(speech(400)));

  test('and gets makes it a success, with every verdict in the summary', async () => {
    const session = await run({
      options: {
        expectations: { 'expect-audio': 400, 'max-first-audio': 520, 'max-gap': 20, closeCode: 1000 },
      },
      onLive: reply,
    });
    expect(session.outcome).toBe('ok');
    expect(session.summary.verdicts.map(({ ok }) => ok)).toEqual([true, true, true, true]);
  });

  test('and does not get makes it fail, with each failed expectation and its measured value', async () => {
    const session = await run({
      options: {
        expectations: {
          'expect-audio': 401,
          'max-first-audio': 520,
          events: ['transcript'],
          forbiddenEvents: ['error'],
        },
      },
      onLive: reply,
    });
    expect(session.outcome).toMatchObject({ code: 'expectation-failed', exitCode: 1 });
    expect(session.summary.ok).toBe(false);
    expect((session.outcome as VoicectlError).message).toBe(
      'Not as expected: expect-audio: expected at least 401 ms, measured 400 ms; expect-event: expected transcript, measured 0 times',
    );
  });

  const broken: Script['onLive'] = (service) =>
    service.at(500, () => service.close(1011, '', failure('stream-broken')));

  test.each([
    [1011, 'stream-broken'],
    [1011, 'service-error'],
    [1002, 'protocol-violation'],
  ] as const)('of the close code %i excuses that close, even if it is a %s', async (closeCode, code) => {
    const session = await run({
      options: { expectations: { closeCode } },
      onLive: (service) => service.at(500, () => service.close(closeCode, '', failure(code))),
    });
    expect(session.outcome).toBe('ok');
    expect(session.summary).toMatchObject({ ok: true, close: { code: closeCode } });
  });

  test('of the close code fails for another close', async () => {
    const session = await run({ options: { expectations: { closeCode: 4000 } }, onLive: broken });
    expect(session.outcome).toMatchObject({ code: 'expectation-failed', exitCode: 1 });
    expect((session.outcome as VoicectlError).cause).toMatchObject({ code: 'stream-broken' });
  });

  test.each(['stream-refused', 'too-many-connections'] as const)(
    'of the close code excuses a refusal of the token by that close: %s',
    async (code) => {
      const refuse = failure(code);
      const { outcome, summary } = await run({ options: { expectations: { closeCode: 1000 } }, refuse });
      expect([outcome, summary.ok]).toEqual(['ok', true]);
    },
  );

  test('of the close code excuses nothing but closes', async () => {
    const session = await run({
      options: { expectations: { closeCode: 1000 } },
      drained: () => Promise.reject(failure('timed-out')),
    });
    expect(codeOf(session.outcome)).toBe('timed-out');
  });

  test('does not hide why the stream broke', async () => {
    const session = await run({ options: { expectations: { 'expect-audio': 0 } }, onLive: broken });
    expect(codeOf(session.outcome)).toBe('stream-broken');
    expect(session.summary.verdicts).toMatchObject([{ name: 'expect-audio', ok: false }]);
  });
});

describe('a session that fails', () => {
  const cases: [string, Script, string, { close: unknown }][] = [
    [
      'for the token',
      { requestToken: () => Promise.reject(failure('auth-refused')) },
      'auth-refused',
      { close: null },
    ],
    [
      'to connect',
      { openVoiceStream: () => Promise.reject(failure('connect-failed')) },
      'connect-failed',
      { close: null },
    ],
    ['to be let in', { refuse: failure('stream-refused') }, 'stream-refused', { close: { code: 1000 } }],
    ['by a bug', { requestToken: () => Promise.reject(new TypeError('oops')) }, 'internal', { close: null }],
    [
      'to read its source',
      {
        options: {
          source: {
            ...utterance(),
            // biome-ignore lint/correctness/useYield: it fails before the first.
            async *read() {
              throw failure('bad-input');
            },
          },
        },
      },
      'bad-input',
      { close: { code: 1000 } },
    ],
    [
      'to write what it heard',
      {
        options: {
          sinks: [{ write: () => Promise.reject(failure('input-output')), close: async () => {} }],
        },
        onLive: (service) => service.at(300, () => service.speak(speech(20))),
      },
      'input-output',
      { close: { code: 1000 } },
    ],
    [
      'to finish what it wrote',
      {
        options: {
          waitMs: 0,
          sinks: [{ write: async () => {}, close: () => Promise.reject(failure('input-output')) }],
        },
      },
      'input-output',
      { close: { code: 1000 } },
    ],
  ];

  test.each(cases)('%s still ends with a summary', async (_what, script, code, summary) => {
    const session = await run(script);
    expect(codeOf(session.outcome)).toBe(code);
    expect(session.events.at(-1)).toMatchObject({ type: 'summary', ok: false, ...summary });
    expect(session.events.filter(({ type }) => type === 'summary')).toHaveLength(1);
  });

  test('to write ends at once, and sends nothing more', async () => {
    const session = await run(cases[5]![1]);
    expect(session.service.heard.length).toBeLessThan(18);
  });

  test('reports each repetition of the token request', async () => {
    const session = await run({
      requestToken: async ({ onRetry }) => {
        onRetry?.({ attempt: 1, delayMs: 250, error: failure('rate-limited') });
        throw failure('rate-limited');
      },
    });
    expect(session.of('retry')).toMatchObject([{ attempt: 1, delayMs: 250, code: 'rate-limited' }]);
  });
});

describe('a session that is interrupted', () => {
  const reason = new VoicectlError('interrupted', 'Interrupted');
  const untilAborted = ({ signal }: { signal: AbortSignal }) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

  const phases: [string, Script, string[]][] = [
    ['asks for the token', { requestToken: untilAborted }, []],
    ['connects', { openVoiceStream: untilAborted }, []],
    ['sends', {}, ['close']],
    ['waits for a socket that is full', { drained: () => new Promise(() => {}) }, ['close']],
    [
      'hears the reply',
      {
        options: { source: sourceOf(speech(100)) },
        onLive: (service) => service.at(120, () => service.speakInTime(speech(5_000))),
      },
      ['close'],
    ],
    ['waits for the reply', { options: { source: sourceOf(speech(100)), tailMs: 0 } }, ['close']],
  ];

  test.each(phases)(
    'while it %s closes the stream and ends with a summary',
    async (_phase, script, calls) => {
      const ending = new AbortController();
      const session = startSession({
        ...script,
        options: { source: utterance(), ...script.options },
        signal: ending.signal,
      });
      await session.clock.run(400);
      ending.abort(reason);
      expect(await session.finish()).toBe(reason);
      expect(session.events.at(-1)).toMatchObject({ type: 'summary', ok: false });
      expect(session.service.calls).toEqual(calls);
      // Only what the service still had to say is left.
      expect(session.clock.pending.filter((ms) => ms > 0 && ms < 100)).toEqual([]);
    },
  );

  test('before it begins requests nothing', async () => {
    const { outcome, summary } = await run({ signal: AbortSignal.abort(reason) });
    expect([outcome, summary.ok]).toEqual([reason, false]);
  });

  test('by a consumer that stops listening closes everything, including sinks', async () => {
    const clock = createCountedClock();
    const calls: string[] = [];
    const session = startSession();
    await session.finish();
    const events = runSession(
      {
        ...defaultOptions(),
        clock,
        source: {
          ...sourceOf(),
          async *read() {
            try {
              for (;;) yield speech(100);
            } finally {
              calls.push('source closed');
            }
          },
        },
        sinks: [{ write: async () => {}, close: async () => void calls.push('sink closed') }],
        client: {
          requestToken: () => Promise.reject(new Error('not asked')),
          openVoiceStream: async ({ tap }) => ({
            closed: new Promise(() => {}),
            breakage: () => undefined,
            present: async () => {},
            sendAudio: (data) =>
              tap?.message?.({ at: 0, from: 'device', opcode: 'binary', data, bytes: data.length }),
            drained: async () => {},
            pause: () => {},
            resume: () => {},
            close: async () => {
              calls.push('stream closed');
              return { code: 1000, reason: '' };
            },
          }),
        },
        auth: { token: 'given' },
      },
      new AbortController().signal,
    );
    for await (const event of events) if (event.type === 'audio') break;
    expect(calls).toEqual(['source closed', 'stream closed', 'sink closed']);
    expect(clock.pending).toEqual([]);
  });
});

describe('a queue that is full', () => {
  test('of a slow sink pauses reading until it has drained', async () => {
    const taking: (() => void)[] = [];
    const sink = {
      write: () => new Promise<void>((resolve) => taking.push(resolve)),
      close: async () => {},
    };
    const session = startSession({
      options: { source: utterance(), sinks: [sink], waitMs: 500 },
      onLive: (service) => service.at(100, () => service.speak(...Array(5).fill(Buffer.alloc(1024 * 1024)))),
    });
    await session.clock.run(200);
    expect(session.service.calls).toEqual(['pause']);
    taking.shift()?.();
    await session.clock.run(20);
    expect(session.service.calls).toEqual(['pause', 'resume']);
    for (const take of taking) take();
    expect(await session.finish()).toBe('ok');
  });

  test('of a slow view pauses reading while messages arrive, and loses none of them', async () => {
    const session = startSession({
      options: { source: utterance(), waitMs: 500 },
      onLive: (service) =>
        service.at(100, () => {
          for (let i = 0; i < 5_000; i += 1) service.say({ type: 'status', i });
        }),
    });
    await session.finish();
    expect(session.service.calls.filter((call) => call !== 'pause')).toEqual(['resume', 'close']);
    expect(session.summary.events.status).toBe(5_000);
    expect(session.of('message')).toHaveLength(5_001);
  });
});

describe('messages of the service', () => {
  test('are counted by kind, whatever its name is', async () => {
    const session = await run({
      options: { waitMs: 0 },
      onLive: (service) => {
        for (const type of ['constructor', '__proto__', 'constructor', 'toString']) service.say({ type });
        service.say('not JSON');
      },
    });
    expect(Object.entries(session.summary.events)).toEqual([
      ['service_voice_connected', 1],
      ['constructor', 2],
      ['__proto__', 1],
      ['toString', 1],
      ['(none)', 1],
    ]);
  });

  test('are counted by the beginning of a long kind, unless the kind is expected', async () => {
    const expected = 'expected'.repeat(100);
    const session = await run({
      options: { waitMs: 0, expectations: { events: [expected] } },
      onLive: (service) => {
        for (let at = 0; at < 3; at += 1) service.say({ type: 'x'.repeat(100_000) + at });
        service.say({ type: expected });
      },
    });
    expect(session.summary.events).toEqual({
      service_voice_connected: 1,
      [`${'x'.repeat(200)}…`]: 3,
      [expected]: 1,
    });
  });

  test('are counted together beyond a thousand kinds, except expected ones', async () => {
    const session = await run({
      options: { waitMs: 0, expectations: { events: ['wanted'], forbiddenEvents: ['unwanted'] } },
      onLive: (service) => {
        for (let i = 0; i < 3_000; i += 1) service.say({ type: `kind-${i}` });
        service.say({ type: 'wanted' });
        service.say({ type: 'unwanted' });
      },
    });
    expect(Object.keys(session.summary.events).length).toBeLessThan(1_005);
    expect(session.summary.events['(others)']).toBeGreaterThan(1_900);
    expect(session.summary.verdicts).toMatchObject([{ ok: true }, { ok: false }]);
  });
});

test('the frames of a session have the length that was set', async () => {
  const session = await run({ options: { frameMs: 60, tailMs: 0, waitMs: 0 } });
  expect(session.service.heard.map(({ pcm }) => pcm.length)).toEqual(Array(24).fill(1_920));
  expect(framesOf(speech(60), 60)).toHaveLength(1);
});

describe('a source that is stopped before its end', () => {
  test('is followed by silence and the reply, and the session ends well', async () => {
    const enough = new AbortController();
    const session = await run({
      options: { source: sourceOf(speech(5_000)), enough: enough.signal },
      onLive(service) {
        service.at(1_000, () => enough.abort());
        service.at(2_500, () => service.speakInTime(speech(400)));
      },
    });
    expect(session.outcome).toBe('ok');
    const spoken = session.service.heard.filter(({ pcm }) => pcm.some((byte) => byte !== 0));
    expect(spoken.length).toBeGreaterThanOrEqual(50);
    expect(spoken.length).toBeLessThan(54);
    expect(session.summary.in.audioMs).toBe(400);
  });

  test('is followed by the rest of the reply if it is a conversation too', async () => {
    const enough = new AbortController();
    const say = sourceOf(speech(500));
    const turn = { name: undefined, say, expect: [], absent: [] };
    const turns = [
      { ...turn, when: 'connected' as const },
      { ...turn, when: 'after-reply' as const },
    ];
    const session = await run({
      options: { conversation: { turns }, enough: enough.signal },
      onLive(service) {
        service.at(1_500, () => service.speakInTime(speech(1_000)));
        service.at(2_000, () => enough.abort());
      },
    });
    expect(session.service.heard.filter(({ pcm }) => pcm.some((byte) => byte !== 0))).toHaveLength(25);
    expect(session.summary.in.audioMs).toBe(1_000);
  });
});

describe('while audio flows', () => {
  test('the measurements so far are emitted about once a second', async () => {
    const session = await run({
      onLive: (service) => service.at(2_500, () => service.speakInTime(speech(400))),
    });
    const figures = session.of('figures');
    expect(figures.length).toBeGreaterThan(2);
    for (const [index, { t }] of figures.entries()) {
      expect(t - (figures[index - 1]?.t ?? 0)).toBeGreaterThanOrEqual(1_000);
    }
    expect(figures.at(-1)).toMatchObject({ firstAudioMs: session.summary.firstAudioMs });
  });

  test('silence within a reply is reported as a gap, and speech over the AI as a barge-in', async () => {
    const session = await run({
      options: { source: sourceOf(speech(500), silence(2_000), speech(1_000)) },
      onLive(service) {
        service.at(1_500, () => service.speakInTime(speech(400)));
        service.at(2_200, () => service.speakInTime(speech(1_000)));
      },
    });
    expect(session.of('gap').map(({ ms }) => ms)).toEqual([300]);
    expect(session.of('speech').map(({ state, bargeIn }) => [state, bargeIn])).toEqual([
      ['start', undefined],
      ['end', undefined],
      ['start', true],
      ['end', undefined],
    ]);
  });

  test('a gap that is known only after the user’s speech still comes in order', async () => {
    const session = await run({
      options: { source: sourceOf(speech(2_000)) },
      onLive(service) {
        service.at(200, () => service.speakInTime(speech(400)));
        service.at(900, () => service.speakInTime(speech(400)));
      },
    });
    const [gap] = session.of('gap');
    // The clock of the script stands still until the stream is live.
    expect(gap).toMatchObject({ ms: 300, atMs: 900 });
    expect(gap?.t).toBeGreaterThan(900);
    const times = session.events.map(({ t }) => t);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  test('a pause in which the user spoke is not a gap, nor is a pause after an interruption', async () => {
    const session = await run({
      options: { source: sourceOf(silence(1_000), speech(500), silence(2_000)) },
      onLive(service) {
        // It hears the user from 1,000 to 1,480 and answers.
        service.at(500, () => service.speakInTime(speech(600)));
        service.at(2_000, () => service.speakInTime(speech(400)));
        service.at(2_400, () => service.say({ type: 'interrupted' }));
        service.at(3_000, () => service.speakInTime(speech(400)));
      },
    });
    expect(session.of('gap')).toEqual([]);
    expect(session.summary.longestGapMs).toBe(20);
    expect(session.of('speech').map(({ bargeIn }) => bargeIn)).toEqual([true, undefined]);
  });
});

describe('a reply that stops for two seconds in the middle of a sound', () => {
  const reply = speechPcm.subarray(0, 80_000);
  /** 2.5 s from 1,000 ms on, and then the rest. */
  const speakWithPause = (service: ScriptedService) => {
    service.at(1_000, () => service.speakInTime(reply));
    service.at(5_500, () => service.speakInTime(speechPcm.subarray(80_000)));
  };
  const judge = async (onLive: (service: ScriptedService) => void, sinks: AudioSink[] = []) => {
    const options = { sinks, source: sourceOf(silence(7_000)), expectations: { clean: 'findings' as const } };
    const session = await run({ options, onLive });
    return session.summary.verdicts.map(({ measured }) => measured);
  };

  test('was cut off', async () => {
    expect(await judge(speakWithPause)).toEqual([expect.stringContaining('cut-off at 2.48 s')]);
  });

  test('was not cut off if this process did not run in the meantime', async () => {
    const heard = await judge((service) => {
      service.at(1_000, () => service.speakInTime(speechPcm));
      service.at(3_490, () => service.stop(2_000));
    });
    expect(heard).toEqual(['nothing found']);
  });

  test('was not cut off if it was not read in the meantime, because a sink was slow', async () => {
    let take = () => {};
    const taken = new Promise<void>((resolve) => {
      take = resolve;
    });
    const heard = await judge(
      (service) => {
        service.speak(silence(140_000));
        speakWithPause(service);
        service.at(5_500, take);
      },
      [{ write: () => taken, close: async () => {} }],
    );
    expect(heard).toEqual(['nothing found']);
  });
});

describe('sinks that play', () => {
  const createHeard = () => {
    const calls: string[] = [];
    const sink = {
      write: async (pcm: Buffer) => void calls.push(`write ${pcm.length}`),
      flush: () => void calls.push('flush'),
      hold: () => void calls.push('hold'),
      close: async (failure?: VoicectlError) => void calls.push(`close ${failure?.code ?? 'well'}`),
      underruns: 3,
    };
    return { sink, calls };
  };

  test.each([
    { type: 'interrupted' },
    { type: 'status', status: 'interrupted' },
    { event: 'clear_audio_buffer' },
    { kind: 'state', state: 'barge-in' },
  ])('are flushed when the service sends %j', async (message) => {
    const { sink, calls } = createHeard();
    const session = startSession({
      options: { sinks: [sink], source: sourceOf(speech(400)), tailMs: 0, waitMs: 0 },
      onLive: (service) => service.at(100, () => service.say(message)),
    });
    expect(await session.finish()).toBe('ok');
    expect(calls).toEqual(['flush', 'close well']);
    expect(session.summary.underruns).toBe(3);
  });

  test.each([
    { type: 'status', status: 'listening' },
    { type: 'error', error: { code: 'INTERRUPTED' } },
    ['interrupted'],
  ])('are not flushed when it sends %j', async (message) => {
    const { sink, calls } = createHeard();
    const session = startSession({
      options: { sinks: [sink], source: sourceOf(speech(400)), tailMs: 0, waitMs: 0 },
      onLive: (service) => service.at(100, () => service.say(message)),
    });
    await session.finish();
    expect(calls).not.toContain('flush');
  });

  test.each([
    [true, ['hold', 'hold', 'close well']],
    [false, ['close well']],
  ])('are held when speech begins, if that is set: %j', async (bargeIn, expected) => {
    const { sink, calls } = createHeard();
    const source = sourceOf(speech(400), silence(1_000), speech(400));
    const session = startSession({ options: { sinks: [sink], source, bargeIn, tailMs: 0, waitMs: 0 } });
    expect(await session.finish()).toBe('ok');
    expect(calls).toEqual(expected);
  });

  test('learn that the session has failed, so that they need not play to the end', async () => {
    const { sink, calls } = createHeard();
    const session = startSession({
      options: { sinks: [sink], source: sourceOf(speech(400)) },
      onLive: (service) => service.at(100, () => service.close(1011, 'oops', failure('stream-broken'))),
    });
    expect(await session.finish()).toMatchObject({ code: 'stream-broken' });
    expect(calls).toEqual(['close stream-broken']);
  });

  test('end the session if they fail while nothing is written', async () => {
    const { sink } = createHeard();
    let fail: (thrown: VoicectlError) => void = () => {};
    const failed = new Promise<VoicectlError>((resolve) => {
      fail = resolve;
    });
    const session = startSession({
      options: { sinks: [{ ...sink, failed }], source: sourceOf(speech(5_000)) },
      onLive: (service) => service.at(100, () => fail(failure('audio-device'))),
    });
    expect(await session.finish()).toMatchObject({ code: 'audio-device' });
    expect(session.summary.out.audioMs).toBeLessThan(300);
  });
});

test('notices of devices become warnings of the session, including earlier ones', async () => {
  let tell: (notice: SessionNotice) => void = () => {};
  const session = startSession({
    options: {
      source: sourceOf(speech(400)),
      tailMs: 0,
      waitMs: 0,
      notices: {
        listen(listener) {
          tell = listener;
          listener({ code: 'headphones', message: 'Use headphones' });
        },
      },
    },
    onLive: (service) =>
      service.at(100, () => tell({ code: 'device-lost', message: 'It was lost', hint: 'Look for it' })),
  });
  expect(await session.finish()).toBe('ok');
  expect(session.of('warning')).toMatchObject([
    { code: 'headphones', message: 'Use headphones' },
    { code: 'device-lost', message: 'It was lost', hint: 'Look for it' },
  ]);
  expect(session.events[0]?.type).toBe('session');
});

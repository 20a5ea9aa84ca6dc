import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { runSession } from '../../src/session/session.ts';
import type { SessionSummary } from '../../src/session/summary.ts';
import type { ServiceClient } from '../../src/wire/client/join-service.ts';
import { requestToken } from '../../src/wire/client/token.ts';
import { openVoiceStream } from '../../src/wire/client/voice-stream.ts';
import type { Tap } from '../../src/wire/tap.ts';
import { framesOf, silence, speech } from '../helpers/pcm.ts';
import { defaultOptions, sourceOf, startSession } from '../helpers/scripted-session.ts';
import { setUpServices } from '../helpers/services.ts';

/** What every metric may be off by. */
const toleranceMs = 5;

const isLoud = (pcm: Buffer) => pcm.some((byte) => byte !== 0);

/** What a service knows of itself: when it heard and said what. */
interface Truth {
  firstAudioMs: number;
  longestGapMs: number;
  jitterMaxMs: number;
}

function truthOf(heardLastAt: number, said: readonly { at: number; audioMs: number }[]): Truth {
  const pairs = said.slice(1).map((one, index) => ({ ...one, before: said[index]! }));
  return {
    firstAudioMs: said[0]!.at - heardLastAt,
    longestGapMs: Math.max(...pairs.map(({ at, before }) => at - before.at)),
    jitterMaxMs: Math.max(...pairs.map(({ at, before }) => Math.abs(at - before.at - before.audioMs))),
  };
}

const measuredOf = ({
  firstAudioMs,
  longestGapMs,
  jitterMs,
}: SessionSummary): Record<keyof Truth, number | null> => ({
  firstAudioMs,
  longestGapMs,
  jitterMaxMs: jitterMs?.max ?? null,
});

describe('with the test’s clock, each metric equals what the service knows', () => {
  const speechAtEnd = [silence(400), speech(1_000)];
  const evenly = Array.from({ length: 20 }, (_, index) => index * 20);

  test.each([
    ['a reply at once', speechAtEnd, 20, 30, evenly],
    ['a reply after the pause that ends a turn', speechAtEnd, 20, 700, evenly],
    ['a late reply', speechAtEnd, 20, 2_500, evenly],
    ['an uneven reply', speechAtEnd, 20, 650, [0, 20, 75, 80, 100, 310, 320, 330, 345]],
    ['a reply that stalls', speechAtEnd, 20, 650, [0, 20, 40, 1_040, 1_060]],
    ['a reply in bursts', speechAtEnd, 20, 650, [0, 0, 0, 0, 0, 200, 200, 200, 200, 400]],
    ['messages of 100 ms', speechAtEnd, 100, 650, evenly],
    ['messages of 33 ms', speechAtEnd, 33, 650, evenly],
    ['a file that is silent long after its speech', [...speechAtEnd, silence(3_000)], 20, 650, evenly],
    ['a file of two turns', [speech(600), silence(1_500), speech(800)], 20, 650, evenly],
    ['a file with a short pause in the speech', [speech(600), silence(300), speech(800)], 20, 900, evenly],
  ])('%s', async (_what, parts, frameMs, afterMs, offsets) => {
    const turns: { heardLastAt: number; said: { at: number; audioMs: number }[] }[] = [];
    let due: { cancel(): void } | undefined;
    const session = startSession({
      options: { source: sourceOf(...parts), frameMs },
      onAudio(pcm, service) {
        if (!isLoud(pcm)) return;
        if (turns.at(-1)?.said.length !== 0) turns.push({ heardLastAt: 0, said: [] });
        const turn = turns.at(-1)!;
        turn.heardLastAt = service.clock.now();
        due?.cancel();
        due = service.clock.after(afterMs, () => {
          for (const offset of offsets) {
            service.clock.after(offset, () => {
              turn.said.push({ at: service.clock.now(), audioMs: 20 });
              service.speak(speech(20));
            });
          }
        });
      },
    });
    await session.finish();
    const truths = turns.map(({ heardLastAt, said }) => truthOf(heardLastAt, said));
    const truth: Truth = {
      // Of several turns that of the last.
      firstAudioMs: truths.at(-1)!.firstAudioMs,
      longestGapMs: Math.max(...truths.map(({ longestGapMs }) => longestGapMs)),
      jitterMaxMs: Math.max(...truths.map(({ jitterMaxMs }) => jitterMaxMs)),
    };
    for (const [name, measured] of Object.entries(measuredOf(session.summary))) {
      expect({
        [name]: Math.abs((measured ?? Number.NaN) - truth[name as keyof Truth]) <= toleranceMs,
        measured,
        truth,
      }).toMatchObject({
        [name]: true,
      });
    }
    expect(session.summary.in.audioMs).toBe(turns.length * offsets.length * 20);
  });
});

describe('over real sockets', () => {
  const services = setUpServices();
  const tokenTakesMs = 120;
  const confirmationTakesMs = 90;

  /** What something was at least and at most: one moment lies between two that were noted around it. */
  interface Bounds {
    least: number;
    most: number;
  }
  const between = (from: Bounds, to: Bounds): Bounds => ({
    least: to.least - from.most,
    most: to.most - from.least,
  });

  /** One session with a service that notes its own times, and a client whose every message is noted on its way. */
  async function holdSession() {
    const truth = { tokenMs: 0, authoriseMs: 0, saidAt: 0, heardLastAt: 0 };
    const utterance = speech(500);
    let heardBytes = 0;
    const { baseUrl } = await services.http((response) => {
      const at = performance.now();
      setTimeout(() => {
        truth.tokenMs = performance.now() - at;
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"token":"t.o.k"}');
      }, tokenTakesMs);
    });
    const wsUrl = await services.ws((peer) => {
      const speak = async () => {
        truth.saidAt = performance.now();
        for (const [index, frame] of framesOf(speech(400)).entries()) {
          // A stall in the middle, and an uneven pace: the exact times are what is noted.
          if (index > 0) await sleep(index === 10 ? 130 : 20);
          peer.send(frame);
        }
      };
      peer.on('message', (data: Buffer, isBinary) => {
        if (!isBinary) {
          const at = performance.now();
          setTimeout(() => {
            truth.authoriseMs = performance.now() - at;
            peer.send(JSON.stringify({ type: 'service_voice_connected' }));
          }, confirmationTakesMs);
        } else if (isLoud(data)) {
          truth.heardLastAt = performance.now();
          heardBytes += data.length;
          // Not after a pause: a machine that stands still for as long would have the reply begin within the speech.
          if (heardBytes === utterance.length) setTimeout(() => void speak(), 400);
        }
      });
    });
    let leftLast: Bounds = { least: 0, most: Number.POSITIVE_INFINITY };
    const came: Bounds[] = [];
    const client: ServiceClient = {
      requestToken,
      async openVoiceStream(options) {
        const tap: Tap = {
          ...options.tap,
          message(message) {
            const least = performance.now();
            options.tap?.message?.(message);
            if (message.from === 'service' && 'data' in message)
              came.push({ least, most: performance.now() });
          },
        };
        const stream = await openVoiceStream({ ...options, tap });
        return {
          ...stream,
          sendAudio(pcm) {
            if (isLoud(pcm)) leftLast = { least: performance.now(), most: Number.POSITIVE_INFINITY };
            else leftLast.most = Math.min(leftLast.most, performance.now());
            stream.sendAudio(pcm);
          },
        };
      },
    };
    const options = {
      ...defaultOptions(),
      client,
      clock: systemClock,
      baseUrl,
      wsUrl,
      source: sourceOf(silence(100), utterance),
      settleMs: 1_500,
      sinks: [],
    };
    let summary: SessionSummary | undefined;
    for await (const event of runSession(options, new AbortController().signal)) {
      if (event.type === 'summary') summary = event;
    }
    return { summary: summary!, truth, leftLast, came };
  }

  test('each metric equals what passed on the wire, and is at least what the service recorded', async () => {
    const { summary, truth, leftLast, came } = await holdSession();
    const pauses = came.slice(1).map((one, index) => between(came[index]!, one));
    const jitters = pauses.map(({ least, most }) => ({
      least: Math.max(0, least - 20, 20 - most),
      most: Math.max(Math.abs(least - 20), Math.abs(most - 20)),
    }));
    const largest = (all: Bounds[]): Bounds => ({
      least: Math.max(...all.map(({ least }) => least)),
      most: Math.max(...all.map(({ most }) => most)),
    });
    const unknown = Number.POSITIVE_INFINITY;
    const bounds: Record<string, Bounds> = {
      firstAudioMs: between(leftLast, came[0]!),
      longestGapMs: largest(pauses),
      jitterMaxMs: largest(jitters),
      tokenMs: { least: truth.tokenMs, most: unknown },
      authoriseMs: { least: truth.authoriseMs, most: unknown },
    };
    const { tokenMs, authoriseMs } = summary;
    for (const [name, ms] of Object.entries({ ...measuredOf(summary), tokenMs, authoriseMs })) {
      const { least, most } = bounds[name]!;
      // A figure has one decimal, and the histogram of the jitter three digits.
      const rounding = 0.1 + least / 500;
      const isRight = ms! >= least - rounding && ms! <= most + rounding;
      expect(isRight, `${name} ${ms}, from ${least} to ${most}; pauses ${JSON.stringify(pauses)}`).toBe(true);
    }
    expect(summary.firstAudioMs).toBeGreaterThanOrEqual(truth.saidAt - truth.heardLastAt - 0.1);
  });
});

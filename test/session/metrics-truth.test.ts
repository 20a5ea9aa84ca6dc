import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { runSession } from '../../src/session/session.ts';
import type { SessionSummary } from '../../src/session/summary.ts';
import { requestToken } from '../../src/wire/client/token.ts';
import { openVoiceStream } from '../../src/wire/client/voice-stream.ts';
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

describe('on a clock of the test, each metric is what the service knows of itself', () => {
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

  /** One session with a service that notes its own times, by the same clock of this machine. */
  async function holdSession() {
    const said: { at: number; audioMs: number }[] = [];
    let heardLastAt = 0;
    let tokenMs = 0;
    let authoriseMs = 0;
    let due: NodeJS.Timeout | undefined;
    const { baseUrl } = await services.http((response) => {
      const at = performance.now();
      setTimeout(() => {
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"token":"t.o.k"}');
        tokenMs = performance.now() - at;
      }, tokenTakesMs);
    });
    const wsUrl = await services.ws((peer) => {
      const speak = async () => {
        for (const [index, frame] of framesOf(speech(400)).entries()) {
          // A stall in the middle, and an uneven pace: the exact times are what is noted.
          await sleep(index === 10 ? 130 : 20);
          said.push({ at: performance.now(), audioMs: 20 });
          peer.send(frame);
        }
      };
      peer.on('message', (data: Buffer, isBinary) => {
        if (!isBinary) {
          const at = performance.now();
          setTimeout(() => {
            peer.send(JSON.stringify({ type: 'service_voice_connected' }));
            authoriseMs = performance.now() - at;
          }, confirmationTakesMs);
        } else if (isLoud(data)) {
          heardLastAt = performance.now();
          clearTimeout(due);
          due = setTimeout(() => void speak(), 400);
        }
      });
    });
    const options = {
      ...defaultOptions(),
      client: { requestToken, openVoiceStream },
      clock: systemClock,
      baseUrl,
      wsUrl,
      source: sourceOf(silence(100), speech(500)),
      settleMs: 400,
      sinks: [],
    };
    let summary: SessionSummary | undefined;
    for await (const event of runSession(options, new AbortController().signal)) {
      if (event.type === 'summary') summary = event;
    }
    const measured = {
      ...measuredOf(summary!),
      tokenMs: summary!.tokenMs,
      authoriseMs: summary!.authoriseMs,
    };
    const truth = { ...truthOf(heardLastAt, said), tokenMs, authoriseMs };
    return Object.fromEntries(
      Object.entries(truth).map(([name, value]) => [
        name,
        Math.abs((measured[name as keyof typeof measured] ?? Number.NaN) - value),
      ]),
    );
  }

  /**
   * A machine that is busy makes single figures late, a wrong definition makes each of them wrong: of several
   * sessions the nearest counts.
   */
  test('each metric comes within 5 ms of what the service notes of itself', {
    timeout: 120_000,
  }, async () => {
    let nearest: Record<string, number> = {};
    for (let attempt = 0; attempt < 12; attempt += 1) {
      const off = await holdSession();
      nearest = Object.fromEntries(
        Object.entries(off).map(([name, ms]) => [
          name,
          Math.min(ms, nearest[name] ?? Number.POSITIVE_INFINITY),
        ]),
      );
      if (Object.values(nearest).every((ms) => ms <= toleranceMs)) break;
    }
    for (const [name, ms] of Object.entries(nearest))
      expect({ [name]: ms <= toleranceMs, ms }).toMatchObject({ [name]: true });
  });
});

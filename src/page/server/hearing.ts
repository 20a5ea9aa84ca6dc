import { isGap } from '../../audio/turn-taking.ts';
import type { Stage } from '../../service/control/page-handler.ts';
import type { Tap } from '../../wire/tap.ts';
import type { HeardStream } from '../messages.ts';
import { createVoiceTrace, type VoiceTrace } from './voice-trace.ts';

/** Streams that have ended and are still told to a tab that comes later. */
const maxEnded = 20;
/** A longer pause is between two replies. */
const longestGapMs = 1_500;

/** Hears every stream while somebody looks. */
export interface Hearing {
  /** What is new since the last call; with `all` everything. Streams without news are left out. */
  take(all?: boolean): HeardStream[];
  stop(): void;
}

interface Heard {
  openedAt: number;
  heardFromMs: number;
  out: VoiceTrace;
  in: VoiceTrace;
  gaps: HeardStream['gaps'];
  newGaps: HeardStream['gaps'];
  isNew: boolean;
  ended: boolean;
}

export function startHearing({ elapsedMs, observe }: Pick<Stage, 'elapsedMs' | 'observe'>): Hearing {
  const heard = new Map<number, Heard>();

  const forgetOldest = () => {
    const ended = [...heard].filter(([, one]) => one.ended);
    for (const [stream] of ended.slice(0, Math.max(0, ended.length - maxEnded))) heard.delete(stream);
  };
  const listen = (stream: number, ageMs: number): Tap => {
    const one: Heard = {
      openedAt: elapsedMs() - ageMs,
      heardFromMs: ageMs,
      out: createVoiceTrace('out'),
      in: createVoiceTrace('in'),
      gaps: [],
      newGaps: [],
      isNew: true,
      ended: false,
    };
    heard.set(stream, one);
    return {
      message(message) {
        if (!('data' in message)) return;
        const t = elapsedMs() - one.openedAt;
        if (message.from === 'device') one.out.hear(t, message.data);
        else noteGap(one, one.in.hear(t, message.data), message.data.length);
      },
      closed() {
        one.ended = true;
        one.out.end();
        one.in.end();
        forgetOldest();
      },
    };
  };
  const stop = observe(listen);

  return {
    stop,
    take(all = false) {
      const now = elapsedMs();
      return [...heard].flatMap(([stream, one]) => {
        const at = one.ended ? Number.NEGATIVE_INFINITY : now - one.openedAt;
        const voices = [one.out.take(at, all), one.in.take(at, all)].filter((voice) => voice !== undefined);
        const gaps = all ? one.gaps : one.newGaps;
        const isNews = all || one.isNew || voices.length > 0 || gaps.length > 0;
        if (!all) {
          one.newGaps = [];
          one.isNew = false;
        }
        const { openedAt, heardFromMs } = one;
        return isNews ? [{ stream, openedAt, heardFromMs, voices, gaps: [...gaps] }] : [];
      });
    },
  };
}

function noteGap(one: Heard, pause: ReturnType<VoiceTrace['hear']>, bytes: number): void {
  if (pause === undefined || bytes === 0) return;
  const silenceMs = pause.endMs - pause.startMs;
  const pair = { from: pause.startMs, at: pause.endMs, audioMs: 0, silenceMs };
  if (!isGap(pair) || silenceMs >= longestGapMs || !one.in.speaking) return;
  one.gaps.push(pause);
  one.newGaps.push(pause);
}

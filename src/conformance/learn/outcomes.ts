import { countText } from '../../protocol/count-text.ts';
import { connectionsPerDevice } from '../../protocol/rate-limit.ts';
import { secondsText } from '../../protocol/time-text.ts';
import { audioOf, type SeenStream } from '../../rules/stream-seen.ts';
import { streamTooMany } from '../steps/connection-steps.ts';
import type { Remark } from './setting.ts';
import { evictedEnd } from './stream-settings.ts';
import { confirmedAt, type LearnView, presentedAt, serviceClose, textsOf } from './view.ts';

/** What is presented on a stream that decides whether it is confirmed. */
const presented = {
  S2: 'a used token, after its stream has ended',
  S4: 'text that is not a token',
  S5: 'a token with an altered signature',
  S6: 'nothing',
  S7: 'audio, then a token',
  S8: 'a token in a binary message',
} as const;
type PresentedStream = keyof typeof presented;
const invalid: readonly PresentedStream[] = ['S4', 'S5', 'S6'];
const refused: readonly PresentedStream[] = ['S2', 'S4', 'S5'];

/** A later close has another cause: the deadline for a token. */
const refusedWithinMs = 4_000;

/** What became of the streams of a run, by what was done on them, even if no setting expresses it. */
export function outcomesOf(view: LearnView): ReadonlyMap<string, string> {
  const outcomes = new Map<string, string>();
  for (const [id, what] of Object.entries(presented)) {
    const stream = view.stream(id);
    if (stream !== undefined) outcomes.set(`${id}, ${what}`, outcomeOf(stream));
  }
  const [conversation, still] = [confirmedStream(view, 'S1'), confirmedStream(view, 'S3')];
  if (conversation !== undefined)
    outcomes.set(
      'S1, after its confirmation',
      serviceClose(conversation) === undefined ? 'left open' : 'closed',
    );
  if (still !== undefined) outcomes.set('S3, without a turn', speaksUnasked(still) ? 'audio' : 'no audio');
  return outcomes;
}

function outcomeOf(stream: SeenStream): 'confirmed' | 'closed' | 'left open' {
  if (confirmedAt(stream) !== undefined) return 'confirmed';
  const end = serviceClose(stream);
  if (end === undefined) return 'left open';
  return end.at - (presentedAt(stream) ?? end.at) > refusedWithinMs ? 'left open' : 'closed';
}

function confirmedStream(view: LearnView, id: string): SeenStream | undefined {
  const stream = view.stream(id);
  return stream !== undefined && confirmedAt(stream) !== undefined ? stream : undefined;
}

/** More audio than the device sent: not even an echo. */
function speaksUnasked(stream: SeenStream): boolean {
  const bytesFrom = (side: 'device' | 'service') =>
    audioOf(stream, side).reduce((sum, { bytes }) => sum + bytes, 0);
  return bytesFrom('service') > bytesFrom('device');
}

function listText(ids: readonly PresentedStream[]): string {
  return ids.map((id) => `${presented[id]} (${id})`).join(', ');
}

function withOutcome(view: LearnView, ids: readonly PresentedStream[], outcome: string): PresentedStream[] {
  return ids.filter((id) => {
    const stream = view.stream(id);
    return stream !== undefined && outcomeOf(stream) === outcome;
  });
}

export const outcomeRemarks: readonly Remark[] = [
  {
    steps: invalid,
    find(view) {
      const ids = withOutcome(view, invalid, 'confirmed');
      return ids.length === 0 ? undefined : `streams without a valid token are confirmed: ${listText(ids)}`;
    },
  },
  {
    steps: refused,
    find(view) {
      const ids = withOutcome(view, refused, 'left open');
      if (ids.length === 0) return undefined;
      const isExplained = ids.some((id) =>
        textsOf(view.stream(id) as SeenStream).some(({ category }) => category === 'error'),
      );
      const got = isExplained ? 'an error message, but no close' : 'no close';
      return `refused tokens get ${got} within ${refusedWithinMs / 1000} s: ${listText(ids)}`;
    },
  },
  {
    steps: ['S7', 'S8'],
    find(view) {
      const isAudio = withOutcome(view, ['S7'], 'confirmed').length > 0;
      return isAudio && withOutcome(view, ['S8'], 'left open').length === 0 && view.stream('S8') !== undefined
        ? 'a binary message is treated as a token only if it contains one (S7, S8): an emulator treats any binary message as a token'
        : undefined;
    },
  },
  {
    steps: ['S1'],
    find(view) {
      const stream = confirmedStream(view, 'S1');
      const end = serviceClose(stream);
      if (stream === undefined || end === undefined) return undefined;
      const heardAt = audioOf(stream, 'service').at(-1)?.at;
      const ms = end.at - (heardAt ?? confirmedAt(stream) ?? end.at);
      const since = heardAt === undefined ? 'the confirmation' : 'its last audio';
      return `S1 is closed with ${end.close}, ${secondsText(ms, 1)} after ${since}: an emulator keeps it open`;
    },
  },
  {
    steps: ['S1'],
    find(view) {
      const stream = confirmedStream(view, 'S1');
      const isUnanswered =
        stream !== undefined &&
        audioOf(stream, 'device').length > 0 &&
        audioOf(stream, 'service').length === 0;
      return isUnanswered ? 'S1 got no reply to its speech: an emulator replies to turns' : undefined;
    },
  },
  {
    steps: ['S3'],
    find(view) {
      const stream = confirmedStream(view, 'S3');
      return stream !== undefined && speaksUnasked(stream)
        ? 'audio comes without a turn (S3): an emulator replies to turns'
        : undefined;
    },
  },
  {
    steps: ['C'],
    find(view) {
      const at = evictedEnd(view)?.at;
      if (at === undefined) return undefined;
      const ids = Array.from({ length: connectionsPerDevice }, (_, index) => `C${index + 1}`);
      const closed = ids.filter(
        (id) => Math.abs((serviceClose(view.stream(id))?.at ?? Number.NaN) - at) < 1_000,
      );
      return closed.length < 2
        ? undefined
        : `${streamTooMany} closes ${countText(closed.length, 'other stream')}: an emulator closes only the oldest`;
    },
  },
];

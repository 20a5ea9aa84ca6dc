import { nearestRank } from '../../kernel/nearest-rank.ts';
import type {
  AiSpeech,
  Dialogue,
  DialogueFigures,
  DialogueSpread,
  ScriptedClip,
  SpeechEnd,
  UserNoise,
  UserTurn,
} from './dialogue.ts';
import { findSounds } from './find-sounds.ts';
import { dialogueRules as rules } from './rules.ts';
import { findOverlaps, joinSounds, lengthOf, type SoundSpan } from './sound-spans.ts';
import { meanDb, type SideLevels } from './step-levels.ts';

export interface DialogueInput {
  /** The levels of both sides, in steps of the time axis. */
  user: SideLevels;
  ai: SideLevels;
  /** The clips that the user said from a script, in order. Without a script a turn ends after a pause. */
  clips?: readonly ScriptedClip[] | undefined;
  /** When the service reported that it was interrupted, in milliseconds. */
  stops: readonly number[];
  /** How long a turn may be without a reply, in milliseconds. */
  waitMs: number;
  /** Why turn-taking cannot be judged; undefined or null if it can. */
  unjudged?: string | null | undefined;
}

type UserSound = SoundSpan & { turn?: number; isTurn: boolean; holdMs?: number | undefined };

/** A reply of the AI: its speech, and pauses in which no turn ended. */
type Reply = SoundSpan & { speech: readonly AiSpeech[] };

/** Who spoke when on one time axis, and how the AI reacted to each turn and each other sound of the user. Pure. */
export function judgeDialogue(input: DialogueInput): Dialogue {
  const [userSounds, aiSounds] = [findSounds(input.user), findSounds(input.ai)];
  const ai = findAiSpeech(input.ai.levels, joinSounds(aiSounds, rules.aiSilentMs), input.stops);
  const { unjudged = null } = input;
  const user = unjudged === null ? userParts(userSounds, input.clips) : [];
  const turns = user.filter(({ isTurn }) => isTurn);
  const replies = groupReplies(ai, turns);
  const endMs = Math.max(input.user.levels.length, input.ai.levels.length) * rules.stepMs;
  const scene: Scene = { user, turns, ai, replies, endMs, waitMs: input.waitMs };
  const both = findOverlaps(user, ai);
  const judged = {
    turns: turns.map((turn, index) => judgeTurn(turn, index, scene)),
    noises: user.filter(({ isTurn }) => !isTurn).map((noise) => judgeNoise(noise, scene)),
  };
  return {
    unjudged,
    ...judged,
    ai,
    overlaps: both,
    figures: figuresOf(judged, { user, ai, both }),
    remarks: input.clips === undefined ? remarksOn(judged.turns) : [],
    rules: { ...rules, waitMs: input.waitMs },
  };
}

interface Scene {
  user: readonly UserSound[];
  turns: readonly SoundSpan[];
  ai: readonly AiSpeech[];
  replies: readonly Reply[];
  endMs: number;
  waitMs: number;
}

/** The place of a clip may differ from the clock by this much. */
const clipSlackMs = 60;

/** The sounds of each clip joined or, without clips, the sounds up to each long pause. */
function userParts(sounds: readonly SoundSpan[], clips: readonly ScriptedClip[] | undefined): UserSound[] {
  if (clips === undefined)
    return joinSounds(sounds, rules.turnPauseMs).map((sound) => ({ ...sound, isTurn: true }));
  const left = [...sounds];
  const said = clips.flatMap(({ turn, isTurn, holdMs, startMs, endMs }): UserSound[] => {
    const isIn = (sound: SoundSpan) =>
      (sound.startMs + sound.endMs) / 2 > startMs - clipSlackMs &&
      (sound.startMs + sound.endMs) / 2 < endMs + clipSlackMs;
    const own = left.filter(isIn);
    for (const one of own) left.splice(left.indexOf(one), 1);
    const [first, last] = [own[0], own.at(-1)];
    if (first === undefined || last === undefined) return [];
    return [{ turn, isTurn, holdMs, startMs: first.startMs, endMs: last.endMs }];
  });
  const others = joinSounds(left, rules.turnPauseMs).map((sound) => ({ ...sound, isTurn: true }));
  return [...said, ...others].sort((a, b) => a.startMs - b.startMs);
}

/** How each stretch of the AI's speech ended. `stops`: when the service reported that it was interrupted. */
function findAiSpeech(
  levels: Float32Array,
  speech: readonly SoundSpan[],
  stops: readonly number[],
): AiSpeech[] {
  const activeDb = meanDb(Float32Array.from(speech.flatMap((one) => [...levelsIn(levels, one)])));
  return speech.map((one) => ({ ...one, end: endOf(one) }));

  function endOf({ startMs, endMs }: SoundSpan): SpeechEnd {
    const isStopped = stops.some((at) => at > startMs && Math.abs(at - endMs) <= rules.stopMessageMs);
    if (isStopped || isAbrupt(levels, endMs / rules.stepMs, activeDb)) return 'cut';
    return levels.length * rules.stepMs - endMs < rules.aiSilentMs ? 'open' : 'ended';
  }
}

function levelsIn(levels: Float32Array, { startMs, endMs }: SoundSpan): Float32Array {
  return levels.subarray(startMs / rules.stepMs, endMs / rules.stepMs);
}

/** With a pitch of 100 Hz every second step of 5 ms is loud, so levels are compared over 20 ms. */
const comparedSteps = 20 / rules.stepMs;

/** Whether speech that ends before step `end` does not decay. */
function isAbrupt(levels: Float32Array, end: number, activeDb: number): boolean {
  // The last step may be cut anywhere.
  const lastFrom = end - 1 - comparedSteps;
  const before = levels.subarray(Math.max(0, lastFrom - comparedSteps), Math.max(0, lastFrom));
  const last = levels.subarray(Math.max(0, lastFrom), end - 1);
  const after = levels.subarray(end + 1, end + 1 + comparedSteps);
  if (before.length < comparedSteps || after.length < comparedSteps) return false;
  const lastDb = meanDb(last);
  return (
    lastDb >= activeDb - rules.cutBelowActiveDb &&
    (meanDb(before) - lastDb < rules.cutFallDb || lastDb >= activeDb - rules.cutLoudDb) &&
    lastDb - meanDb(after) >= rules.cutDropDb
  );
}

function groupReplies(ai: readonly AiSpeech[], turns: readonly SoundSpan[]): Reply[] {
  const replies: { startMs: number; endMs: number; speech: AiSpeech[] }[] = [];
  for (const speech of ai) {
    const last = replies.at(-1);
    // A turn ends a reply by coming in one of its pauses, or by interrupting it.
    const isEndedBy = ({ startMs, endMs }: SoundSpan, before: AiSpeech) =>
      endMs <= speech.startMs + rules.earlyMs &&
      (endMs > before.endMs ||
        (isCutBy(startMs, before) && speech.startMs - before.endMs >= rules.turnPauseMs));
    const isCutBy = (turnStartMs: number, { startMs, endMs, end }: AiSpeech) =>
      end === 'cut' &&
      turnStartMs > startMs &&
      turnStartMs < endMs &&
      endMs - turnStartMs < rules.neverYieldsMs;
    const before = last?.speech.at(-1);
    const goesOn =
      last !== undefined &&
      before !== undefined &&
      speech.startMs - last.endMs < rules.replyPauseMs &&
      !turns.some((turn) => isEndedBy(turn, before));
    if (goesOn) {
      last.speech.push(speech);
      last.endMs = speech.endMs;
    } else replies.push({ startMs: speech.startMs, endMs: speech.endMs, speech: [speech] });
  }
  return replies;
}

/**
 * The AI's speech that a sound of the user interrupts, if a reply is going on. Pauses within the reply do not count as its
 * end.
 */
function metBy(sound: SoundSpan, { replies }: Scene): AiSpeech | undefined {
  const reply = replies.find(({ startMs, endMs }) => startMs < sound.startMs && endMs > sound.startMs);
  const left = reply?.speech.filter(({ endMs }) => endMs > sound.startMs) ?? [];
  return left.find(({ end }) => end === 'cut') ?? left.at(-1);
}

function judgeTurn(turn: SoundSpan & { turn?: number }, index: number, scene: Scene): UserTurn {
  const nextMs = scene.turns[index + 1]?.startMs ?? Number.POSITIVE_INFINITY;
  const reply = scene.replies.find(({ startMs }) => startMs >= turn.startMs && startMs < nextMs);
  const leadMs = reply === undefined ? 0 : turn.endMs - reply.startMs;
  const isEarly = leadMs > rules.earlyMs;
  const met = metBy(turn, scene);
  const interruption = met === undefined ? null : interruptionOf(met, turn);
  return {
    ...(turn.turn === undefined ? {} : { turn: turn.turn }),
    startMs: turn.startMs,
    endMs: turn.endMs,
    responseMs: reply === undefined || isEarly ? null : -leadMs,
    earlyMs: isEarly ? leadMs : null,
    interruption,
    yieldMs: interruption === 'yielded' && met !== undefined ? met.endMs - turn.startMs : null,
    talkOverMs: lengthOf(findOverlaps([turn], scene.ai)),
    reply: reply === undefined ? whyNoReply(turn, nextMs, scene) : 'answered',
  };
}

function interruptionOf(met: AiSpeech, turn: SoundSpan): UserTurn['interruption'] {
  if (met.endMs - turn.startMs >= rules.neverYieldsMs) return 'never-yields';
  return met.end === 'cut' ? 'yielded' : met.end === 'ended' ? 'ended' : null;
}

function whyNoReply(
  turn: SoundSpan,
  nextMs: number,
  { user, replies, endMs, waitMs }: Scene,
): UserTurn['reply'] {
  const untilMs = Math.min(nextMs, endMs);
  // An AI that did not yield goes on with its previous reply.
  const goesOn = replies.findLast(({ startMs }) => startMs < turn.startMs);
  const sinceMs = Math.max(turn.endMs, Math.min(goesOn?.endMs ?? 0, untilMs));
  const noise = user.findLast((one) => !one.isTurn && one.startMs >= turn.startMs && one.startMs < untilMs);
  if (noise !== undefined && untilMs - noise.endMs >= Math.min(waitMs, rules.answersNoiseMs)) return 'lost';
  return untilMs - sinceMs >= waitMs ? 'unanswered' : 'open';
}

function judgeNoise(noise: UserSound, scene: Scene): UserNoise {
  const { ai, replies, turns } = scene;
  const nextMs = turns.find(({ startMs }) => startMs > noise.startMs)?.startMs ?? Number.POSITIVE_INFINITY;
  const before = turns.findLast(({ startMs }) => startMs < noise.startMs);
  const met = ai.find(({ startMs, endMs }) => startMs < noise.startMs && endMs > noise.startMs);
  const lastStopMs = Math.max(noise.startMs + (noise.holdMs ?? rules.falseStopMs), noise.endMs);
  const stop = met !== undefined && met.endMs <= lastStopMs ? met : undefined;
  const resumed = stop && ai.find(({ startMs }) => startMs >= stop.endMs && startMs < nextMs);
  const pauseMs = stop === undefined || resumed === undefined ? null : resumed.startMs - stop.endMs;
  const isWithin = pauseMs !== null && pauseMs <= rules.resumeMs;
  // Speech that ends in a soft sound was stopped if it goes on later although no turn came.
  const goesOnLater = isWithin && pauseMs >= rules.replyPauseMs;
  const isStopped = stop?.end === 'cut' || (stop?.end === 'ended' && goesOnLater);
  const isResumed = isStopped && isWithin;
  const isAwaited =
    before !== undefined &&
    !replies.some(({ startMs }) => startMs >= before.startMs && startMs < noise.startMs);
  const answer = replies.find(
    ({ startMs }) =>
      startMs > noise.startMs && startMs <= noise.endMs + rules.answersNoiseMs && startMs < nextMs,
  );
  return {
    ...(noise.turn === undefined ? {} : { turn: noise.turn }),
    startMs: noise.startMs,
    endMs: noise.endMs,
    stoppedAtMs: isStopped && stop !== undefined ? stop.endMs : null,
    resumedAfterMs: isResumed ? pauseMs : null,
    answeredAtMs: answer === undefined || isResumed || isAwaited ? null : answer.startMs,
  };
}

function figuresOf(
  { turns, noises }: Pick<Dialogue, 'turns' | 'noises'>,
  { user, ai, both }: { user: readonly SoundSpan[]; ai: readonly SoundSpan[]; both: readonly SoundSpan[] },
): DialogueFigures {
  const count = (is: (turn: UserTurn) => boolean) => turns.filter(is).length;
  const all = [...user, ...ai];
  const spanMs =
    Math.max(0, ...all.map(({ endMs }) => endMs)) - Math.min(Infinity, ...all.map(({ startMs }) => startMs));
  const [userMs, aiMs, overlapMs] = [lengthOf(user), lengthOf(ai), lengthOf(both)];
  const scripted = (value: number) => (noises.length === 0 ? null : value);
  const share = (ms: number) => Math.round((ms / spanMs) * 1_000) / 1_000;
  return {
    responseMs: spreadOfMs(turns.flatMap(({ responseMs }) => responseMs ?? [])),
    yieldMs: spreadOfMs(turns.flatMap(({ yieldMs }) => yieldMs ?? [])),
    earlyReplies: count(({ earlyMs }) => earlyMs !== null),
    neverYields: count(({ interruption }) => interruption === 'never-yields'),
    endedByItself: count(({ interruption }) => interruption === 'ended'),
    falseInterruptions: scripted(noises.filter(({ stoppedAtMs }) => stoppedAtMs !== null).length),
    answersNoise: scripted(noises.filter(({ answeredAtMs }) => answeredAtMs !== null).length),
    repliesLost: scripted(count(({ reply }) => reply === 'lost')),
    unanswered: count(({ reply }) => reply === 'unanswered'),
    overlapMs,
    talkOverMs: turns.reduce((sum, { talkOverMs }) => sum + talkOverMs, 0),
    silenceMs: all.length === 0 ? 0 : spanMs - (userMs + aiMs - overlapMs),
    talkShare: all.length === 0 ? null : { user: share(userMs), ai: share(aiMs) },
  };
}

function spreadOfMs(values: readonly number[]): DialogueSpread | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (percent: number) => nearestRank(sorted, percent) ?? 0;
  return { count: sorted.length, p50: at(50), p95: at(95), max: at(100) };
}

function remarksOn(turns: readonly UserTurn[]): Dialogue['remarks'] {
  return turns.flatMap(({ startMs, endMs, interruption }) =>
    interruption === 'yielded' && endMs - startMs < rules.shortSoundMs
      ? [{ atMs: startMs, text: `a sound of ${endMs - startMs} ms stops the AI: false if it is not a turn` }]
      : [],
  );
}

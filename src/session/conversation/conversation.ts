import type { Dialogue } from '../../audio/dialogue/dialogue.ts';
import { audibleDbfs, type Level } from '../../audio/level.ts';
import { type AudioSource, wireFormat } from '../../audio/source.ts';
import { ReplyArrivals } from '../../audio/turn-taking.ts';
import type { LostTime } from '../../audio/verdict/pace-check.ts';
import type { Clock } from '../../kernel/clock.ts';
import { bytesForMs, bytesPerSample } from '../../protocol/audio-format.ts';
import { isInterruption, type ServiceMessage } from '../../protocol/messages.ts';
import { roundMs } from '../../protocol/time-text.ts';
import { type ExpectationVerdict, verdict } from '../expectations.ts';
import type { ConversationPlan, TurnCue, TurnPlan } from './conversation-plan.ts';
import { createTurn, holdOf, type Turn } from './turn.ts';
import { speakingGraceMs, type TurnAudioOptions, type TurnReplyState } from './turn-audio.ts';

export interface ConversationOptions
  extends Pick<TurnAudioOptions, 'settleMs' | 'waitMs' | 'pausedUntil' | 'voicedAt' | 'pausedMs'> {
  clock: Clock;
  /** Time in which the service was not read. Default: it always was. */
  own?: LostTime | undefined;
  /** When the session began. */
  startedAt: number;
  frameMs: number;
  onClip?(clip: ClipMoment): void;
  /** A reply counts as over although audible audio goes on: only background is left. */
  onBackground?(): void;
}

/** The clip of a turn begins or ends. */
export interface ClipMoment {
  /** From 1. */
  turn: number;
  /** How long nothing may change because of it, if it is a cough; undefined: it is a turn. */
  holdMs: number | undefined;
  state: 'start' | 'end';
}

/**
 * A running conversation: a source that speaks each turn at its time and is silent in between, like a
 * microphone. It observes all audio and messages in both directions, because the times depend on them.
 */
export interface Conversation {
  /** Ends when the last turn has its reply and no expectation is open. */
  readonly source: AudioSource;
  sent(frame: Buffer): void;
  received(pcm: Buffer, level: Level): void;
  message(message: ServiceMessage): void;
  /** Lets the judges of the spoken turns hear their replies, one after the other. */
  letJudge(signal: AbortSignal): Promise<void>;
  /** The verdicts on every turn. A turn that was not spoken has failed. `dialogue`: who spoke when. */
  verdicts(dialogue?: Dialogue): ExpectationVerdict[];
}

/** Represents the time before the first turn: a service may speak first. */
const listening: TurnPlan = { name: undefined, say: undefined, when: 'connected', expect: [], absent: [] };

export function createConversation(
  { turns: plans }: ConversationPlan,
  {
    clock,
    startedAt,
    frameMs,
    settleMs,
    waitMs,
    pausedUntil,
    voicedAt,
    pausedMs,
    own,
    onClip = () => {},
    onBackground = () => {},
  }: ConversationOptions,
): Conversation {
  const arrivals = new ReplyArrivals(settleMs);
  let receivedBytes = 0;
  const turns: { turn: Turn; saidAt: number }[] = [];
  let beganAt: number | undefined;
  let current: Turn | undefined;
  /** Sounds that are not turns, made while no reply was awaited. */
  const noises = new Set<Turn>();
  /** Why the next turn was not spoken. */
  let skippedFor: string | undefined;

  const begin = (plan: TurnPlan): Turn => {
    const now = clock.now();
    current?.passOn(now);
    current = createTurn(plan, {
      ...{ startedAt, beganAt: now, settleMs, waitMs, pausedUntil, voicedAt, pausedMs, own },
      heardUntil: () => arrivals.audibleUntil,
      number: turns.length + (plan === listening ? 0 : 1),
    });
    return current;
  };
  /** No expectation is open, and the last turn has its reply. */
  const isOver = (last: Turn) => {
    const now = clock.now();
    const state = replyStateOf(last, now);
    const isAnswered = skippedFor !== undefined || state === 'ended' || state === 'none';
    return isAnswered && turns.every(({ turn }) => turn.isDecided(now));
  };

  /** After a sound that is not a turn no reply is awaited, unless the reply to the previous turn had not begun. */
  const replyStateOf = (turn: Turn, now: number) => {
    const state = turn.audio.replyState(now);
    if (state === 'ended' && turn.audio.isBackgroundHeard) onBackground();
    const isNoise = noises.has(turn) && turn.isDecided(now);
    return isNoise && state === 'awaited' ? 'ended' : state;
  };

  const say = async function* (signal?: AbortSignal): AsyncGenerator<Buffer> {
    const silence = Buffer.alloc(bytesForMs(frameMs));
    let before = begin(listening);
    beganAt = clock.now();
    before.audio.clipEnded(beganAt);
    for (const plan of plans) {
      const look = () =>
        lookForCue(plan.when, before, {
          now: clock.now(),
          state: replyStateOf(before, clock.now()),
          heardUntil: arrivals.audibleUntil,
        });
      let cue = look();
      for (; cue === 'wait'; cue = look()) yield silence;
      if (cue !== 'now') {
        skippedFor = cue.missed;
        break;
      }
      const hadReply = before.audio.replyState(clock.now()) !== 'awaited';
      const turn = begin(plan);
      const holdMs = holdOf(plan);
      if (holdMs !== undefined && hadReply) noises.add(turn);
      turns.push({ turn, saidAt: clock.now() });
      const clip = { turn: turns.length, holdMs };
      if (plan.say !== undefined) {
        onClip({ ...clip, state: 'start' });
        yield* plan.say.read(signal);
        onClip({ ...clip, state: 'end' });
      }
      turn.audio.clipEnded(clock.now());
      before = turn;
    }
    while (!isOver(before)) yield silence;
  };

  return {
    source: { ...describeClips(plans), durationMs: undefined, repeatable: false, read: say },
    sent(frame) {
      current?.sent(frame, clock.now());
    },
    received(pcm, level) {
      const now = clock.now();
      arrivals.arrived(pcm.length, now);
      if (level.rmsDbfs > audibleDbfs) arrivals.wasAudible();
      current?.received({ pcm, level, isWithinSample: receivedBytes % bytesPerSample !== 0 }, now);
      receivedBytes += pcm.length;
    },
    message(message) {
      const now = clock.now();
      if (isInterruption(message)) arrivals.interrupted(now);
      for (const { turn } of turns) turn.message(message, now);
    },
    async letJudge(signal) {
      for (const { turn } of turns) await turn.letJudge(signal);
    },
    verdicts(dialogue) {
      const now = clock.now();
      return plans.flatMap((plan, index) => {
        const name = plan.name === undefined ? `turn ${index + 1}` : `turn ${index + 1} (${plan.name})`;
        const said = turns[index];
        const missed = index === turns.length ? skippedFor : undefined;
        const isWhole = said?.turn.audio.clipEndedAt !== undefined;
        const saidAtText = said && `${roundMs(said.saidAt - (beganAt ?? 0))} ms into the stream`;
        const judged = verdict('said', 'turn-skipped', {
          ok: isWhole,
          expected: cueText(plan.when),
          measured: saidAtText
            ? `${saidAtText}${isWhole ? '' : ', but the session ended before all of it was spoken'}`
            : `not spoken: ${missed ?? 'the session ended first'}`,
        });
        return [judged, ...(said?.turn.verdicts(now, dialogue) ?? [])].map((one) => ({
          ...one,
          name: `${name}: ${one.name}`,
        }));
      });
    },
  };
}

/** Whether it is time for a turn, given the previous one. */
function lookForCue(
  when: TurnCue,
  { audio }: Turn,
  { now, state, heardUntil }: { now: number; state: TurnReplyState; heardUntil: number },
): 'now' | 'wait' | { missed: string } {
  if (when === 'connected') return 'now';
  if (typeof when === 'object' && 'afterMs' in when) {
    return now >= (audio.clipEndedAt ?? now) + when.afterMs ? 'now' : 'wait';
  }
  if (state === 'none') return { missed: 'no reply started' };
  // A reply that arrives faster than it is played, or waited for this process, is heard for longer.
  const isHeard = now <= heardUntil + speakingGraceMs;
  if (when === 'after-reply')
    return state === 'ended' && (!isHeard || audio.isBackgroundHeard) ? 'now' : 'wait';
  const { spokenFrom } = audio;
  if (spokenFrom === undefined || now < spokenFrom + when.duringReplyMs) return 'wait';
  if (isHeard) return 'now';
  return { missed: `the AI spoke for only ${roundMs(heardUntil - spokenFrom)} ms` };
}

function cueText(when: TurnCue): string {
  if (typeof when === 'string') return when;
  return 'afterMs' in when
    ? `after ${when.afterMs} ms`
    : `during the reply, ${when.duringReplyMs} ms into it`;
}

function describeClips(plans: readonly TurnPlan[]): Pick<AudioSource, 'description'> {
  const clips = plans.flatMap(({ say }) => (say === undefined ? [] : [say.description]));
  return {
    description: {
      ...wireFormat,
      converted: clips.some(({ converted }) => converted),
      text: [...new Set(clips.map(({ text }) => text))].join('; ') || 'silence',
    },
  };
}

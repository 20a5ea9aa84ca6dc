import { toSample } from '../../audio/encode.ts';
import { gainOf } from '../../audio/level.ts';
import type { Clock, ClockTimer } from '../../kernel/clock.ts';
import { queueCostBytes } from '../../kernel/queue-cost.ts';
import { bytesPerSample, msForBytes, sampleRate } from '../../protocol/audio-format.ts';
import type { FaultAt } from '../../protocol/faults.ts';
import { createUserEcho, type UserEcho } from './echo-fault.ts';
import type { FaultSubject, Faults } from './faults.ts';
import { createReplySpoiler, type ReplySpoiler } from './reply-faults.ts';
import { createTurnFaults, type TurnFaults, type TurnTaker } from './turn-faults.ts';

/** Sends AI audio to the connection, changed by the active faults. */
export interface FaultyAudio {
  /** Whether audio is held back. */
  readonly isLate: boolean;
  send(pcm: Buffer): void;
  /** Takes what the user says: faults act on it. */
  hear(pcm: Buffer): void;
  /** How much later than it should the AI stops its reply; ∞: not before the end of the reply. */
  readonly yieldsAfterMs: number;
  close(): void;
}

export interface FaultyAudioOptions {
  faults: Faults;
  subject: FaultSubject;
  /** The clock of the machine: moving the clock of the service does not change the pace of audio. */
  clock: Clock;
  out: { send(pcm: Buffer): void };
  /** The AI, if it is one that takes turns. */
  taker?: TurnTaker;
  /** A shorter sound of the user is not a turn. Default: every sound is one. */
  shortestTurnMs?: number;
}

/** Maximum audio held back at once; beyond it the oldest is dropped. */
const maxHeldBytes = 1024 * 1024;

/** Audio after this much time without audio begins a reply. */
const replyPauseMs = 500;

/** A message continues the previous one if it comes at most this long after that one has been played. */
const lateMs = 40;

interface Held {
  pcm: Buffer;
  dueAt: number;
}

export function createFaultyAudio(options: FaultyAudioOptions): FaultyAudio {
  const { faults, subject, clock, out, taker, shortestTurnMs = 0 } = options;
  const about = { ...subject, reported: new Set<number>() };
  const held: Held[] = [];
  let heldBytes = 0;
  let lastDueAt = 0;
  let timer: ClockTimer | undefined;
  /** The faults that hold back what is held. */
  let holding: readonly FaultAt<'audio'>[] = [];
  /** From the first message that is held on. */
  let unfollow: (() => void) | undefined;
  let lastSentAt = Number.NEGATIVE_INFINITY;
  /** When the last message will have been played, if it is played when it is sent. */
  let playedAt = Number.NEGATIVE_INFINITY;
  /** The last sample of the previous message; undefined at the beginning of a reply. */
  let before: number | undefined;
  /** The faults that have struck the reply. */
  let struckReply: readonly { fault: FaultAt<'reply'>; spoiler: ReplySpoiler }[] = [];
  /** Who speaks when: followed from the first fault on, which most streams never have. */
  let followed: { turns: TurnFaults; echo: UserEcho } | undefined;
  const follow = () => {
    followed ??= {
      turns: createTurnFaults({ faults, about, clock, taker, shortestTurnMs }),
      echo: createUserEcho({ clock, out, isSpeaking: () => clock.now() < playedAt + lateMs }),
    };
    return followed;
  };

  /** The faults of the reply, which strike when it begins, until they are cleared. */
  const spoilers = (): ReplySpoiler[] =>
    struckReply.flatMap(({ fault, spoiler }) => (faults.has(fault) ? [spoiler] : []));
  const spoilReply = (pcm: Buffer): Buffer => {
    const isReplyStart = clock.now() - lastSentAt >= replyPauseMs;
    if (isReplyStart) {
      before = undefined;
      const acts = ({ name }: FaultAt<'reply'>) =>
        name !== 'reply-lost' || follow().turns.sounds.isNoiseAfterTurn;
      struckReply = faults
        .strike('reply', about, { acts })
        .map((fault) => ({ fault, spoiler: createReplySpoiler(fault, follow().turns.sounds) }));
    }
    if (faults.list().length === 0) {
      followed?.turns.said(pcm, isReplyStart);
      return pcm;
    }
    const { turns, echo } = follow();
    turns.said(pcm, isReplyStart);
    return spoilers().reduce((message, spoiler) => spoiler.spoil(message), echo.mix(pcm));
  };

  const release = () => {
    timer = undefined;
    while (held[0] !== undefined && held[0].dueAt <= clock.now()) {
      const oldest = dequeue();
      if (oldest !== undefined) out.send(oldest);
    }
    arm();
  };
  const dequeue = (): Buffer | undefined => {
    const oldest = held.shift();
    if (oldest !== undefined) heldBytes -= queueCostBytes(oldest.pcm.length);
    return oldest?.pcm;
  };
  const arm = () => {
    const [next] = held;
    if (next !== undefined) timer ??= clock.after(next.dueAt - clock.now(), release);
  };
  /** Lets go of what is held once no fault holds it back any more. */
  const hurry = () => {
    if (timer === undefined || holding.some(faults.has)) return;
    for (const one of held) one.dueAt = clock.now();
    lastDueAt = clock.now();
    timer.cancel();
    timer = clock.after(0, release);
  };
  const hold = (pcm: Buffer, dueAt: number) => {
    unfollow ??= faults.onCleared(hurry);
    held.push({ pcm, dueAt });
    heldBytes += queueCostBytes(pcm.length);
    while (heldBytes > maxHeldBytes) dequeue();
    arm();
  };

  return {
    get isLate() {
      return timer !== undefined;
    },
    get yieldsAfterMs() {
      return Math.max(0, ...spoilers().map(({ yieldsAfterMs = 0 }) => yieldsAfterMs));
    },
    hear(pcm) {
      if (faults.list().length === 0) return;
      const { turns, echo } = follow();
      turns.hear(pcm);
      if (turns.echo !== undefined) echo.hear(pcm, turns.echo);
    },
    send(sent) {
      const pcm = spoilReply(sent);
      lastSentAt = clock.now();
      playedAt = lastSentAt + msForBytes(sent.length);
      const previous = before;
      before = lastSample(pcm) ?? before;
      if (pcm.length === 0 && sent.length > 0) return;
      const struck = faults.strike('audio', about);
      const isLate = timer !== undefined;
      if (struck.length === 0 && !isLate) {
        out.send(pcm);
        return;
      }
      const others = isLate ? holding.filter((one) => !struck.includes(one)) : [];
      holding = [...others, ...struck.filter(delays)];
      const dueAt = dueTime(struck, pcm, { now: clock.now(), lastDueAt });
      lastDueAt = dueAt;
      const spoilt = struck.reduce((messages, fault) => spoil(messages, fault, previous), [pcm]);
      for (const message of spoilt) {
        if (isLate || dueAt > clock.now()) hold(message, dueAt);
        else out.send(message);
      }
    },
    close() {
      timer?.cancel();
      unfollow?.();
      held.length = 0;
      followed?.echo.close();
      followed?.turns.close();
      heldBytes = 0;
    },
  };
}

function delays({ name }: FaultAt<'audio'>): boolean {
  return name === 'drip' || name === 'burst';
}

/** When a message leaves. Messages keep their order. */
function dueTime(
  struck: readonly FaultAt<'audio'>[],
  pcm: Buffer,
  { now, lastDueAt }: { now: number; lastDueAt: number },
): number {
  let dueAt = Math.max(now, lastDueAt);
  for (const fault of struck) {
    if (fault.name === 'drip') dueAt = Math.max(now, lastDueAt + msForBytes(pcm.length) / fault.factor);
    if (fault.name === 'burst') dueAt = lastDueAt > now ? lastDueAt : now + fault.every;
  }
  return dueAt;
}

/** Applies one fault to the messages that are about to be sent. `before`: the last sample before them. */
function spoil(messages: Buffer[], fault: FaultAt<'audio'>, before: number | undefined): Buffer[] {
  switch (fault.name) {
    case 'mute':
    case 'drop':
      return [];
    case 'duplicate':
      return messages.flatMap((pcm) => [pcm, pcm]);
    case 'odd-split':
      return messages.flatMap(splitSample);
    case 'clipped':
      return messages.map((pcm) => clip(pcm, fault.gain));
    case 'silent':
      return messages.map(({ length }) => Buffer.alloc(length));
    case 'wrong-rate':
      return messages.map((pcm) => resampleRoughly(pcm, fault.rate, before));
    case 'swapped-bytes':
      return messages.map(swapBytes);
    case 'burst':
    case 'drip':
      return messages;
  }
}

/** Splits a message in two, within a sample. A message of less than two bytes stays whole. */
function splitSample(pcm: Buffer): Buffer[] {
  const at = Math.floor(pcm.length / 2) | 1;
  return at < pcm.length ? [pcm.subarray(0, at), pcm.subarray(at)] : [pcm];
}

/** Raises the level by `gainDb`, and clips samples that do not fit. Half a sample at the end is dropped. */
function clip(pcm: Buffer, gainDb: number): Buffer {
  const gain = gainOf(gainDb);
  return makeSamples(Math.floor(pcm.length / bytesPerSample), (at) => gain * sample(pcm, at));
}

/**
 * Resamples to the other rate. Played at 16 kHz, audio of a higher rate sounds too low. It continues from the sample `before`,
 * so that nothing clicks between two messages.
 */
function resampleRoughly(pcm: Buffer, rate: number, before: number | undefined): Buffer {
  const samples = Math.floor(((pcm.length / bytesPerSample) * rate) / sampleRate);
  const at = (place: number) => (place < 0 ? (before ?? sample(pcm, 0)) : sample(pcm, place));
  return makeSamples(samples, (index) => {
    const position = (index * sampleRate) / rate - 1;
    const [left, right] = [at(Math.floor(position)), at(Math.floor(position) + 1)];
    return left + (right - left) * (position - Math.floor(position));
  });
}

/** Swaps the bytes of each sample. Half a sample at the end is dropped. */
function swapBytes(pcm: Buffer): Buffer {
  return Buffer.from(pcm.subarray(0, pcm.length & ~1)).swap16();
}

function makeSamples(samples: number, value: (at: number) => number): Buffer {
  const result = Buffer.alloc(samples * bytesPerSample);
  for (let at = 0; at < samples; at += 1) result.writeInt16LE(toSample(value(at)), at * bytesPerSample);
  return result;
}

function lastSample(pcm: Buffer): number | undefined {
  return pcm.length < bytesPerSample ? undefined : sample(pcm, Number.POSITIVE_INFINITY);
}

/** The sample at this place; past the end the last one. */
function sample(pcm: Buffer, at: number): number {
  const last = Math.floor(pcm.length / bytesPerSample) - 1;
  return last < 0 ? 0 : pcm.readInt16LE(Math.min(at, last) * bytesPerSample);
}

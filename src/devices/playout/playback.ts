import { createBlockJoiner } from '../../audio/blocks.ts';
import { createVoiceWatch, ReplyArrivals } from '../../audio/turn-taking.ts';
import { atTurnEnd, type Clock } from '../../kernel/clock.ts';
import { toVoicectlError, type VoicectlError } from '../../kernel/errors.ts';
import { watchLateness } from '../../kernel/lateness.ts';
import { createDeferred } from '../../kernel/promises.ts';
import { createRecovery, type RecoveryOptions } from '../process/recovery.ts';
import { createJitterBuffer, type JitterStats } from './jitter-buffer.ts';
import { createRenewal } from './renewal.ts';
import type { Speaker } from './speaker.ts';

/** Plays AI audio on a loudspeaker. Takes it as it arrives, and never makes the receiver wait. */
export interface Playback {
  readonly backend: string;
  /** Rejects with `audio-device` only after the loudspeaker is lost. */
  write(pcm: Buffer): Promise<void>;
  /** Drops waiting audio and fades out what is playing: the service reports an interruption. */
  flush(): void;
  /** Drops waiting audio, and the rest of a reply that is heard: the user begins to speak. */
  hold(): void;
  /** Plays waiting audio to its end and closes the device; closes it at once if the session failed or was aborted. */
  close(failure?: VoicectlError): Promise<void>;
  /** Resolves with the error when the loudspeaker is lost. */
  readonly failed: Promise<VoicectlError>;
  /** Gaps in replies, caused by the network or the device. */
  readonly underruns: number;
  /** Estimated time from the arrival of audio until it is heard. Undefined until something was played. */
  readonly delayMs: number | undefined;
  readonly stats: JitterStats;
}

/** `signal` also stops playing waiting audio. */
export interface PlaybackOptions extends Omit<RecoveryOptions<Speaker>, 'what'> {
  /** 1: unchanged. */
  volume: number;
  /** After a longer pause of AI audio another reply begins. */
  settleMs: number;
  /** Called with each frame that goes to the loudspeaker. */
  onPlayed?: ((frame: Buffer) => void) | undefined;
}

/** This long after the last frame nothing can be heard any more. */
const audibleTailMs = 400;
/** Gaps within this time count once: a device that has run dry stutters until it has caught up. */
const sameHoleMs = 1_000;
/** If a loudspeaker holds more audio than this, its process is ended, although that may click. */
const longestRestMs = {
  /** When the service reports an interruption. */
  interrupted: 150,
  /** When the user begins to speak: that is noticed after 80 ms, and the reply should be silent within 120 ms. */
  spokenOver: 30,
};
/** If this process was held up for longer than this, players have run dry. */
const dryMs = 100;

/** Opens a loudspeaker. Throws `audio-device`. */
export async function openPlayback(options: PlaybackOptions): Promise<Playback> {
  const { open, clock, notices, volume, settleMs, onPlayed, signal } = options;
  const first = await open(signal);
  const buffer = createJitterBuffer({ volume, settleMs });
  const hold = createHold(clock);
  const joiner = createBlockJoiner();
  const holdUp = createHoldUp(clock);
  const underruns = createUnderrunCount();
  const ending = new AbortController();
  const until = AbortSignal.any([signal, ending.signal]);
  const loudspeaker = createLoudspeaker(first, { ...options, signal: until, isCut: () => isCut });
  let isClosing = false;
  let isCut = false;
  let wroteAt = Number.NEGATIVE_INFINITY;
  let delayMs: number | undefined;
  let failure: VoicectlError | undefined;
  let wake = () => {};
  const failed = createDeferred<VoicectlError>();

  const cut = () => {
    isCut = true;
    ending.abort();
    wake();
  };
  const whileAway = () => {
    buffer.flush();
    // The audio that it should have played to the end is gone.
    if (isClosing && options.deviceTimeoutMs > 0) cut();
  };
  const rest = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
      void loudspeaker.current.lost.catch(resolve);
    });
  const give = (frame: Buffer, now: number) => {
    loudspeaker.current.write(frame);
    onPlayed?.(frame);
    wroteAt = now;
  };
  /** Plays until nothing is left to play. */
  const play = async () => {
    for (;;) {
      await loudspeaker.current.ready();
      // If this process was held up, read audio that has arrived in the meantime first.
      await new Promise<void>((resolve) => atTurnEnd(resolve, undefined));
      if (isCut) return;
      const now = clock.now();
      buffer.leaveOut(loudspeaker.current.drainLateMs());
      const frame = buffer.pull(now, now - wroteAt > dryMs && holdUp.hasJustEnded());
      underruns.count(buffer.stats.underruns + loudspeaker.holes, now);
      if (!isClosing) loudspeaker.renew(frame, buffer.stats.underruns);
      if (frame !== undefined) {
        give(frame, now);
        delayMs = buffer.heldMs + loudspeaker.current.delayMs;
      } else if (isClosing) return;
      else await rest();
    }
  };
  const keepPlaying = async () => {
    while (!isCut) {
      try {
        return await play();
      } catch (thrown) {
        if (!isCut) await loudspeaker.replace(toVoicectlError(thrown), whileAway);
      }
    }
  };
  const playing = keepPlaying().catch((thrown) => {
    // The session does not fail if nobody is waiting for the device any more.
    if (isCut) return;
    failure = toVoicectlError(thrown);
    failed.resolve(failure);
  });
  const silence = (restMs: number) => {
    const now = clock.now();
    const last = buffer.fadeOut(now);
    if (loudspeaker.isAway || loudspeaker.isSilenced) return;
    const { delayMs: heldMs, holes } = loudspeaker.current;
    // A device that was held up may hold more than it reports.
    if (heldMs <= restMs && holes === 0) {
      if (last !== undefined) give(last, now);
    } else if (!isClosing && now - wroteAt < audibleTailMs) loudspeaker.silence();
  };

  let isOverflowReported = false;
  return {
    backend: first.backend,
    failed: failed.promise,
    async write(message) {
      if (failure !== undefined) throw failure;
      // Joined first: what is not played must not separate the halves of a sample.
      const pcm = joiner.push(message);
      if (pcm.length === 0) return;
      if (loudspeaker.isAway || hold.covers(pcm)) return;
      buffer.push(pcm, clock.now(), holdUp.hasJustEnded());
      wake();
      if (buffer.stats.overflowMs === 0 || isOverflowReported) return;
      isOverflowReported = true;
      notices.emit({
        code: 'playback-full',
        message: 'More than five minutes of AI audio are waiting for playback; the rest will not be played',
      });
    },
    flush() {
      hold.end();
      // What comes now is another reply: it begins with a whole sample.
      joiner.clear();
      silence(longestRestMs.interrupted);
    },
    hold() {
      hold.start();
      silence(longestRestMs.spokenOver);
    },
    async close(reason) {
      isClosing = true;
      holdUp.stop();
      buffer.end();
      const isUrgent = reason !== undefined || signal.aborted || loudspeaker.isAway;
      if (isUrgent) cut();
      else signal.addEventListener('abort', cut, { once: true });
      wake();
      // Nobody waits for a missing device after the session.
      await (isUrgent ? loudspeaker.current.stop() : playing);
      signal.removeEventListener('abort', cut);
      await loudspeaker.close(isCut || failure !== undefined);
    },
    get underruns() {
      return underruns.total;
    },
    get delayMs() {
      return delayMs;
    },
    get stats() {
      return buffer.stats;
    },
  };
}

/** The loudspeaker that is playing. It is replaced if it is lost or late, or was ended to silence it. */
interface Loudspeaker {
  readonly current: Speaker;
  /** Gaps of this device and of its predecessors. */
  readonly holes: number;
  /** Whether it is lost and not back yet. */
  readonly isAway: boolean;
  /** Whether it was ended to silence it at once, and is being opened again. */
  readonly isSilenced: boolean;
  silence(): void;
  /** Opens another one. Calls `whileAway` if that takes time. Rejects if none can be opened. */
  replace(loss: VoicectlError, whileAway: () => void): Promise<void>;
  /** If this one was late, lets a newly opened one take over with this frame. */
  renew(frame: Buffer | undefined, underruns: number): void;
  close(atOnce: boolean): Promise<void>;
}

interface LoudspeakerOptions extends PlaybackOptions {
  isCut: () => boolean;
}

function createLoudspeaker(first: Speaker, { isCut, ...options }: LoudspeakerOptions): Loudspeaker {
  const { open, clock, signal } = options;
  const recover = createRecovery({ ...options, what: 'loudspeaker' });
  const renewal = createRenewal({ open, clock, signal });
  let current = first;
  /** The replaced loudspeaker plays the rest of its audio. */
  let leaving = Promise.resolve();
  let silenced: Speaker | undefined;
  let isAway = false;
  let holesBefore = 0;
  /** Underruns before this loudspeaker was opened. A device that had nothing to play may be late too. */
  let underrunsBefore = 0;

  const openAgain = async () => {
    const opened = await open(signal);
    if (isCut()) await opened.stop();
    return opened;
  };
  const awaitAnother = async (loss: VoicectlError, whileAway: () => void) => {
    isAway = true;
    try {
      const recovering = recover(current, loss);
      whileAway();
      return await recovering;
    } finally {
      isAway = false;
    }
  };
  return {
    get current() {
      return current;
    },
    get holes() {
      return holesBefore + current.holes;
    },
    get isAway() {
      return isAway;
    },
    get isSilenced() {
      return silenced !== undefined;
    },
    silence() {
      silenced = current;
      void current.stop();
    },
    async replace(loss, whileAway) {
      holesBefore += current.holes;
      // If it cannot be opened again, it is lost.
      const again = silenced === current ? await openAgain().catch(() => undefined) : undefined;
      // Not before: until now there was nothing that could be silenced.
      silenced = undefined;
      current = again ?? (await awaitAnother(loss, whileAway));
    },
    renew(frame, underruns) {
      if (silenced !== undefined) return;
      const renewed = renewal.next(current.holes > 0 || underruns > underrunsBefore, frame);
      if (renewed === undefined) return;
      underrunsBefore = underruns;
      const late = current;
      holesBefore += late.holes;
      current = renewed;
      leaving = late.finish().catch(() => late.stop());
    },
    async close(atOnce) {
      await Promise.all([atOnce ? current.stop() : current.finish(), renewal.close(), leaving]);
    },
  };
}

/** Counts the gaps that a listener hears as separate. */
function createUnderrunCount() {
  let seen = 0;
  let total = 0;
  let countedAt = Number.NEGATIVE_INFINITY;
  return {
    get total() {
      return total;
    },
    /** `holes`: the total so far. */
    count(holes: number, now: number) {
      if (holes > seen && now - countedAt >= sameHoleMs) {
        total += 1;
        countedAt = now;
      }
      seen = holes;
    },
  };
}

/** Detects that this process was held up: stopped, or busy. */
interface HoldUp {
  /** Whether a hold-up has just ended: data that is read now may have arrived during it. */
  hasJustEnded(): boolean;
  stop(): void;
}

/** A shorter delay is normal on a busy machine. */
const toleratedMs = 50;
/** Data that arrived in the meantime is read within this time. */
const recentMs = 50;

export function createHoldUp(clock: Clock): HoldUp {
  let endedAt = Number.NEGATIVE_INFINITY;
  const lateness = watchLateness(clock, (lateMs) => {
    if (lateMs > toleratedMs) endedAt = clock.now();
  });
  return {
    hasJustEnded() {
      lateness.look();
      return clock.now() - endedAt < recentMs;
    },
    stop: () => lateness.stop(),
  };
}

/** Holds back the rest of a reply after the user has interrupted it. */
interface Hold {
  /** The user speaks: if a reply is heard, the rest of it is not played. */
  start(): void;
  /** The next audio is another reply. */
  end(): void;
  /** Takes AI audio that has arrived. Returns whether it belongs to the reply that was interrupted. */
  covers(pcm: Buffer): boolean;
}

/** After a pause of this length the reply has ended, or the service has noticed the interruption. */
const pauseMs = 500;

/** Only speech is a reply: a service may send audible background forever. */
export function createHold(clock: Pick<Clock, 'now'>): Hold {
  const voice = createVoiceWatch(clock);
  let played = new ReplyArrivals(pauseMs);
  let voicedAt: number | undefined;
  const isHolding = (now: number) => voicedAt !== undefined && now - voicedAt < pauseMs;
  return {
    start() {
      const now = clock.now();
      if (isHolding(now) || now - played.audibleUntil < pauseMs) voicedAt = now;
      played.interrupted(now);
    },
    end() {
      voicedAt = undefined;
      // Of the reply that was interrupted nothing is heard any more, even if the user is only now found to speak.
      played = new ReplyArrivals(pauseMs);
    },
    covers(pcm) {
      const now = clock.now();
      const isVoiced = voice.received(pcm);
      if (isHolding(now)) {
        if (isVoiced) voicedAt = now;
        return true;
      }
      voicedAt = undefined;
      played.arrived(pcm.length, now);
      if (isVoiced) played.wasAudible();
      return false;
    },
  };
}

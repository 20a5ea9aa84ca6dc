import { dialogueRules } from '../../audio/dialogue/rules.ts';
import { longestReplyMs, replyOverAt } from '../../audio/turn-taking.ts';
import { toVoicectlError, VoicectlError } from '../../kernel/errors.ts';
import { type FailureKind, failureKind } from '../../kernel/failure-kind.ts';
import { abortable, createDeferred } from '../../kernel/promises.ts';
import { createRedactor } from '../../kernel/redact.ts';
import type { LoadContext, PlannedSession } from './context.ts';
import { FrameSender } from './frame-sender.ts';
import { fetchToken, joinStream, type LoadStream } from './join-stream.ts';
import { ReplyMeter } from './reply-meter.ts';
import { bargeInAfterMs } from './tasks.ts';

/** If this machine is later than this with an arrival, the arrival is dropped. */
const dropAfterMs = 1_000;
/** System codes which say that this machine has no more sockets. */
const exhausted = new Set(['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'ENOBUFS', 'ENOMEM']);

/** Runs one session from its arrival to its end. Counts whatever happens; never throws. */
export async function runLoadSession(context: LoadContext, planned: PlannedSession): Promise<void> {
  const { tally, clock, signal } = context;
  const lateMs = clock.now() - planned.due;
  if (lateMs > dropAfterMs) {
    tally.late(lateMs);
    tally.counts.dropped += 1;
    return;
  }
  tally.late(lateMs);
  tally.counts.arrived += 1;
  tally.opened += 1;
  try {
    await run(context, planned);
    tally.counts.done += 1;
  } catch (thrown) {
    if (signal.aborted) tally.counts.stopped += 1;
    else count(context, thrown);
  } finally {
    tally.opened -= 1;
  }
}

function count({ tally, onFailure }: LoadContext, thrown: unknown): void {
  const error = toVoicectlError(thrown);
  if (exhausted.has(String((error.cause as { code?: unknown } | undefined)?.code))) {
    tally.counts.arrived -= 1;
    tally.counts.dropped += 1;
  } else tally.failed(failureKind(error));
  onFailure(error.message);
}

async function run(context: LoadContext, planned: PlannedSession): Promise<void> {
  const { task, tally, times, clean, startedAt, clock } = context;
  if (task === 'tokens') {
    const redactor = createRedactor();
    redactor.conceal(context.target.apiKey);
    await fetchToken(context, planned, redactor).catch((thrown) => {
      throw redactor.thrown(thrown);
    });
    tally.counts.confirmed += 1;
    return;
  }
  const meter = new ReplyMeter(tally, times.settleMs, clean);
  const joined = await joinStream(context, planned, meter);
  tally.counts.confirmed += 1;
  if (task !== 'storm') {
    await play(context, joined, meter, (sender) => roleOf(context, { meter, sender, ...joined }));
    const found = meter.uncleanAt(clock.now());
    if (found !== undefined) throw failure('unclean-audio', `The AI audio is not clean: ${found}`);
    return;
  }
  const stormAt = startedAt + times.stormAtMs;
  const untilStorm = (sender: FrameSender) => createListener({ sender, meter }, stormAt, () => 'the storm');
  await play(context, joined, meter, untilStorm, 'cut');
  // A reply does not continue on the next stream.
  const newMeter = new ReplyMeter(tally, times.settleMs);
  const again = await joinStream(context, { ...planned, due: stormAt }, newMeter).catch((thrown) => {
    tally.unfinished('back', clock.now() - stormAt);
    throw thrown;
  });
  tally.finished('back', again.confirmedAt - stormAt);
  await play(context, again, newMeter, (sender) =>
    createListener({ sender, meter: newMeter }, again.confirmedAt + times.holdMs),
  );
}

function roleOf({ task, tally, times }: LoadContext, parts: Omit<Parts, 'tally' | 'times'>): LoadRole {
  const all = { ...parts, tally, times };
  return task === 'listen'
    ? createListener(all, parts.confirmedAt + times.holdMs)
    : createTalker(all, task === 'barge-in');
}

/** Plays a role on a stream to its end, and then closes the stream with 1000 or cuts it. Throws what broke it. */
async function play(
  context: LoadContext,
  { stream, ended, breakage }: LoadStream,
  meter: ReplyMeter,
  createRole: (sender: FrameSender) => LoadRole,
  end: 'close' | 'cut' = 'close',
): Promise<void> {
  const { pulse, signal, clock } = context;
  const role = createRole(new FrameSender(stream, context, meter));
  const over = createDeferred();
  void ended.then((ending) => {
    const { awaited } = role;
    const broken =
      breakage(ending) ??
      (awaited && new VoicectlError('stream-broken', `The stream was closed before ${awaited}`));
    if (broken === undefined) over.resolve();
    else over.reject(broken);
  });
  const leave = pulse.add((due) => {
    try {
      if (role.tick(due)) over.resolve();
    } catch (thrown) {
      over.reject(thrown);
    }
  });
  let isOver = false;
  try {
    await abortable(over.promise, signal);
    isOver = true;
  } finally {
    leave();
    meter.giveUp(clock.now());
    meter.endReply();
    if (isOver && end === 'cut') stream.cut();
    else stream.close();
    await ended;
  }
}

/** What a device does on a confirmed stream, frame by frame. */
export interface LoadRole {
  /** Sends the frame that is due. Returns whether the session is over. Throws if the service failed. */
  tick(due: number): boolean;
  /** What the session still waits for: if the service ends the stream before it, even normally, the session has failed. */
  readonly awaited: 'the reply' | 'the storm' | undefined;
}

type Parts = Pick<LoadContext, 'tally' | 'times'> & {
  meter: ReplyMeter;
  sender: FrameSender;
  confirmedAt: number;
};

/** An interrupted reply has stopped after this long without AI audio. */
const stoppedAfterMs = 300;
/** A reply has not stopped if it goes on for this long, and to the end of the speech that interrupts it. */
const stopWithinMs = 1_000;
const { neverYieldsMs } = dialogueRules;

/** Sends silence and listens until `until`. */
export function createListener(
  { sender, meter }: Pick<Parts, 'sender' | 'meter'>,
  until: number,
  awaits: () => LoadRole['awaited'] = () => awaitedReply(meter),
): LoadRole {
  return {
    get awaited() {
      return awaits();
    },
    tick(due) {
      sender.send(due, until);
      return due >= until;
    },
  };
}

function awaitedReply({ awaitedSince }: ReplyMeter): 'the reply' | undefined {
  return awaitedSince === undefined ? undefined : 'the reply';
}

/** Speaks, hears the reply, and speaks again until `holdMs` is over. May interrupt the first reply to each turn. */
export function createTalker(
  { meter, sender, confirmedAt, times, tally }: Parts,
  interrupts: boolean,
): LoadRole {
  let mayInterrupt = interrupts;
  let interruptedAt: number | undefined;
  /** When the first word of the interruption was due; undefined once the interrupted reply is no longer heard. */
  let yieldsFrom: number | undefined;
  /** When the interruption ended: audio that comes before the reply has stopped is not a reply to it. */
  let endedAt: number | undefined;
  /** When the speech of the turn began, and how much AI audio had been heard by then. */
  let speech: { since: number; playedMs: number } | undefined;
  /** Whether a turn was completed: its reply was heard to its end. */
  let hasHeardReply = false;

  const interrupt = (due: number) => {
    mayInterrupt = false;
    interruptedAt = due;
    yieldsFrom = due + sender.speechStartMs;
    meter.watchStop();
    sender.speak();
  };
  /** There is no yield if the reply was over before the first word. */
  const watchYield = (due: number) => {
    if (yieldsFrom === undefined || due < yieldsFrom) return;
    const isSilent = due - Math.max(meter.audibleUntil, yieldsFrom) >= stoppedAfterMs;
    if (!isSilent && due - yieldsFrom < neverYieldsMs) return;
    if (!isSilent) tally.unfinished('yield', due - yieldsFrom);
    else if (meter.audibleUntil > yieldsFrom)
      tally.finished('yield', meter.audibleUntil - yieldsFrom, yieldsFrom);
    yieldsFrom = undefined;
  };
  const watchStop = (due: number) => {
    if (interruptedAt === undefined) return;
    if (due - Math.max(meter.audibleAt, interruptedAt) >= stoppedAfterMs) {
      tally.finished('stops', Math.max(0, meter.audibleAt - interruptedAt), interruptedAt);
      interruptedAt = undefined;
      if (endedAt !== undefined) meter.expect(endedAt);
      endedAt = undefined;
    } else if (!sender.isSpeaking && due - interruptedAt >= stopWithinMs) {
      tally.unfinished('stops', due - interruptedAt);
      if (yieldsFrom !== undefined) tally.unfinished('yield', due - yieldsFrom);
      interruptedAt = undefined;
      throw failure('not-interrupted', 'The AI went on speaking after it was interrupted');
    }
  };
  const isTurnOver = (due: number): boolean => {
    if (sender.isSpeaking) return false;
    const { replyBegan, replyHeard, awaitedSince, unheardSince = replyBegan, heardAt } = meter;
    if (unheardSince === undefined) return false;
    const isOver = due >= replyOverAt({ awaitedFrom: unheardSince, begunAt: replyBegan, heardAt }, times);
    if (isOver && awaitedSince !== undefined) {
      meter.giveUp(due);
      throw failure('late-audio', `No reply started within ${times.waitMs / 1000} s`);
    }
    return isOver || (replyHeard !== undefined && due - replyHeard >= longestReplyMs);
  };

  const follow = (part: ReturnType<FrameSender['send']>, due: number) => {
    if (part === undefined) return;
    // The tick may have been due before the newest message.
    const playedMs = meter.playedBefore(Math.max(due, meter.lastAt));
    if (part === 'start') speech = { since: due, playedMs };
    if (part !== 'end') return;
    if (interruptedAt === undefined) meter.expect(due);
    else endedAt = due;
    if (speech !== undefined)
      tally.finished('talk-over', Math.max(0, playedMs - speech.playedMs), speech.since);
    speech = undefined;
  };

  sender.speak();
  return {
    get awaited() {
      // The service may end the stream during a reply: it has said what it wanted to.
      const hasHeard = hasHeardReply || meter.replyBegan !== undefined;
      return hasHeard && endedAt === undefined ? awaitedReply(meter) : 'the reply';
    },
    tick(due) {
      watchStop(due);
      watchYield(due);
      if (mayInterrupt && !sender.isSpeaking && due - (meter.replyHeard ?? due) >= bargeInAfterMs)
        interrupt(due);
      else if (isTurnOver(due)) {
        meter.endTurn(due);
        hasHeardReply = true;
        if (due - confirmedAt >= times.holdMs) return true;
        mayInterrupt = interrupts;
        sender.speak();
      }
      follow(sender.send(due), due);
      return false;
    },
  };
}

function failure(kind: FailureKind, message: string): VoicectlError {
  return new VoicectlError('expectation-failed', message, { details: { kind } });
}

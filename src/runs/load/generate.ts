import { setMaxListeners } from 'node:events';
import { performance } from 'node:perf_hooks';
import { type Clock, type ClockTimer, repeat, systemClock, waitUntil } from '../../kernel/clock.ts';
import { serviceUrl, streamPath } from '../../protocol/paths.ts';
import { createFastDialer } from '../../wire/client/fast-stream.ts';
import { createPulse } from '../../wire/pulse.ts';
import { startArrivals } from './arrive.ts';
import { clipFrameMs, createClip } from './clip.ts';
import type { LoadContext, LoadTarget } from './context.ts';
import { holdSession } from './hold-session.ts';
import { type LoadOrder, planLoad, type Share, sessionsOf } from './plan.ts';
import { Pauses, Tally } from './tally.ts';
import type { LoadTick } from './tick.ts';
import { warmUp } from './warm-up.ts';

/** What one generator does. */
export interface LoadJob {
  order: LoadOrder;
  target: LoadTarget;
  /** What is said: 16 kHz s16le mono. */
  pcm: Buffer;
  /** The part of the plan that is its own. */
  share: Share;
  /** Its number among the generators of this machine, from 0. */
  generator: number;
  /** When the run starts, milliseconds since the epoch. */
  startAt: number;
  /** What the identifiers of devices begin with. */
  devicePrefix: string;
}

export interface LoadReporting {
  clock: Clock;
  /** Stops the run: streams are closed with 1000, and what was counted is reported. */
  signal: AbortSignal;
  /** Takes what was seen, once a second and at the end. */
  onTick(tick: LoadTick): void;
  /** Takes the message of a failure, without secrets. */
  onFailure(message: string): void;
}

/** Streams are spread over this many moments of a frame. */
const slotsPerFrame = 10;
const secondMs = 1_000;
/** Between the end of the warm-up and the first arrival. */
const restMs = 50;
/** How often a generator looks whether it stood still. */
const lookEveryMs = 20;

/** Runs a part of a plan, and resolves when its last session has ended. An aborted signal ends it; it does not throw. */
export async function generate(job: LoadJob, reporting: LoadReporting): Promise<void> {
  const { clock, signal } = reporting;
  // Every session listens for the end.
  setMaxListeners(0, signal);
  const plan = planLoad(job.order);
  const startedAt = clock.now() + job.startAt - clock.wall();
  const pauses = clock === systemClock ? new Pauses(() => clock.now()) : undefined;
  const looking = pauses && repeat(clock, lookEveryMs, () => pauses.look());
  const tally = new Tally(pauses);
  const context: LoadContext = {
    clock,
    target: job.target,
    dial: createFastDialer({ url: serviceUrl(job.target.wsUrl, streamPath), ca: job.target.ca, clock }),
    pulse: createPulse({ clock, periodMs: clipFrameMs, slotsPerPeriod: slotsPerFrame }),
    clip: createClip(job.pcm),
    tally,
    task: job.order.task,
    times: plan.times,
    startedAt,
    signal,
    onFailure: reporting.onFailure,
  };
  if (clock === systemClock) await warmUp(context, startedAt - restMs);
  await waitUntil(clock, startedAt, signal).catch(() => {});
  // What was before is in no figure.
  pauses?.takeLongest();
  const reports = startReports(tally, { ...reporting, startedAt, generator: job.generator });
  try {
    const sessions: Promise<void>[] = [];
    const arrival = startArrivals(clock, signal);
    for (const index of sessionsOf(job.share, job.order.sessions)) {
      const due = startedAt + (plan.arrivals[index] ?? 0);
      if (!(await arrival(due))) break;
      const device = `${job.devicePrefix}-${(plan.deviceOf[index] ?? 0) + 1}`;
      sessions.push(holdSession(context, { due, device }));
    }
    await Promise.all(sessions);
  } finally {
    context.pulse.close();
    looking?.cancel();
    reports.end();
  }
}

interface ReportOptions extends LoadReporting {
  startedAt: number;
  generator: number;
}

/** Reports what the tally has, at the end of each second. */
function startReports(tally: Tally, { clock, onTick, startedAt, generator }: ReportOptions) {
  const core = createCoreMeter(clock);
  let second = 0;
  let timer: ClockTimer | undefined;
  const report = () => {
    onTick({ generator, second, core: core(), ...tally.flush() });
    second += 1;
  };
  const arm = () => {
    timer = clock.after(startedAt + (second + 1) * secondMs - clock.now(), () => {
      report();
      // A generator that was held up goes on with the second that it is in.
      second = Math.max(second, Math.floor((clock.now() - startedAt) / secondMs));
      arm();
    });
  };
  arm();
  return {
    end() {
      timer?.cancel();
      report();
    },
  };
}

/** A share over less time says nothing. */
const shortestShareMs = 500;

/** The share of the core that this thread has used since the last call; undefined if time is not that of the machine. */
function createCoreMeter(clock: Clock): () => number | undefined {
  if (clock !== systemClock) return () => undefined;
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization, active, idle } = performance.eventLoopUtilization(now, before);
    before = now;
    return active + idle < shortestShareMs ? undefined : utilization;
  };
}

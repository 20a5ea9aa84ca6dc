import { setMaxListeners } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import { atTurnEnd, type Clock, type ClockTimer, systemClock, waitUntil } from '../../kernel/clock.ts';
import { createRedactor } from '../../kernel/redact.ts';
import { serviceUrl, streamPath } from '../../protocol/paths.ts';
import { createFastDialer } from '../../wire/client/fast-stream.ts';
import { createPulse } from '../../wire/pulse.ts';
import { clipFrameMs, createClip } from './clip.ts';
import type { LoadContext, LoadTarget } from './context.ts';
import { fetchToken } from './join-stream.ts';
import { runLoadSession } from './load-session.ts';
import { type LoadOrder, planLoad, type Share, sessionsOf } from './plan.ts';
import { Pauses, Tally } from './tally.ts';
import type { LoadTick } from './tick.ts';

/** The job of one generator. */
export interface LoadJob {
  order: LoadOrder;
  target: LoadTarget;
  /** The audio that devices send: 16 kHz s16le mono. */
  pcm: Buffer;
  /** Its part of the plan. */
  share: Share;
  /** Its number among the generators of this machine, from 0. */
  generator: number;
  /** When the run starts, in milliseconds since the epoch. */
  startAt: number;
  /** The beginning of the identifiers of devices. */
  devicePrefix: string;
}

export interface LoadReporting {
  clock: Clock;
  /** Stops the run: streams are closed with 1000, and what was counted is reported. */
  signal: AbortSignal;
  /** Called once a second and at the end, with what was seen. */
  onTick(tick: LoadTick): void;
  /** Called with the message of each failure, without secrets. */
  onFailure(message: string): void;
}

/** Streams are spread over this many moments of a frame. */
const slotsPerFrame = 10;
const secondMs = 1_000;
/** Between the end of the warm-up and the first arrival. */
const restMs = 50;

/** Runs a part of a plan, and resolves when its last session has ended. An aborted signal ends it; it does not throw. */
export async function generate(job: LoadJob, reporting: LoadReporting): Promise<void> {
  const { clock, signal } = reporting;
  // Every session listens for the end.
  setMaxListeners(0, signal);
  const plan = planLoad(job.order);
  const startedAt = clock.now() + job.startAt - clock.wall();
  const pauses = clock === systemClock ? new Pauses(clock) : undefined;
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
    clean: job.order.clean,
    startedAt,
    signal,
    onFailure: reporting.onFailure,
  };
  if (clock === systemClock) await warmUp(context, startedAt - restMs);
  await waitUntil(clock, startedAt, signal).catch(() => {});
  // Earlier pauses count in no figure.
  pauses?.drainLongestMs();
  const reports = startReports(tally, { ...reporting, startedAt, generator: job.generator });
  try {
    const sessions: Promise<void>[] = [];
    const arrival = startArrivals(clock, signal);
    for (const index of sessionsOf(job.share, job.order.sessions)) {
      const due = startedAt + (plan.arrivals[index] ?? 0);
      if (!(await arrival(due))) break;
      const device = `${job.devicePrefix}-${(plan.deviceOf[index] ?? 0) + 1}`;
      sessions.push(runLoadSession(context, { due, device }));
    }
    await Promise.all(sessions);
  } finally {
    context.pulse.close();
    pauses?.stop();
    reports.end();
  }
}

interface ReportOptions extends LoadReporting {
  startedAt: number;
  generator: number;
}

/** Reports the tally at the end of each second. */
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
      // A generator that was held up continues with the current second.
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

/** A share of a shorter time says nothing. */
const shortestShareMs = 500;

/** The share of a core that this thread has used since the last call; undefined with a clock other than the machine's. */
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

/** Timers have whole milliseconds, and may fire one early. */
const timerMs = 1;
/** If arrivals are closer than this on average, waiting for each by turns of the event loop would cost too much. */
const closeMs = 5;
/** The average is over about this many arrivals. */
const averaged = 10;

/**
 * Waits for one arrival after the other, and is never early. A timer alone is 0.7 ms late on average, which would count in
 * each token time. If arrivals are rare, the last millisecond is spent in turns of the event loop.
 */
export function startArrivals(clock: Clock, signal: AbortSignal) {
  let before: number | undefined;
  let apartMs = closeMs;
  /** Returns true when the arrival is due; false if the signal ended the wait. */
  return async (due: number): Promise<boolean> => {
    if (before !== undefined) apartMs += (due - before - apartMs) / averaged;
    before = due;
    for (let left = due - clock.now(); left > 0 && !signal.aborted; left = due - clock.now()) {
      if (apartMs >= closeMs && left < timerMs)
        await new Promise<void>((resolve) => atTurnEnd(resolve, undefined));
      else await waitUntil(clock, due, signal).catch(() => {});
    }
    return !signal.aborted;
  };
}

/** After this many the code is compiled. */
const requests = 40;

/**
 * Requests tokens from a server of its own until `until`, so that the first second of a run is as quick as the others: code
 * that runs for the first time takes about 10 ms. The service does not see these requests, and they are not counted.
 */
export async function warmUp(
  context: Pick<LoadContext, 'clock' | 'target' | 'signal' | 'times'>,
  until: number,
): Promise<void> {
  const { clock, signal, target } = context;
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end('{"token":"a.warm.token"}');
    });
  });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const own = {
      ...context,
      tally: new Tally(),
      target: { ...target, baseUrl, ca: undefined, apiKey: 'none' },
    };
    for (let count = 0; count < requests && clock.now() < until && !signal.aborted; count += 1)
      await fetchToken(own, { due: clock.now(), device: 'none' }, createRedactor());
  } catch {
    // The run also works without a warm-up.
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

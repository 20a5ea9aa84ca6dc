import { atTurnEnd, type Clock, repeat } from '../../kernel/clock.ts';
import { abortable, createDeferred } from '../../kernel/promises.ts';
import type { Device, DeviceState, DrillView, Situation, StartDevice } from './situation.ts';
import type { Stage } from './stage.ts';

export interface FollowOptions {
  situation: Situation;
  stage: Stage;
  clock: Clock;
  signal: AbortSignal;
  deviceTimeoutMs: number;
  /** Undefined: the drill does not start the device. */
  start: StartDevice | undefined;
  /** The user has to stop a device that the drill did not start. */
  onStopNeeded: () => void;
  /** Receives a function to call when something has changed: it looks again. */
  onReady: (look: () => void) => void;
}

export interface Followed {
  view: DrillView;
  /** Whether the device showed itself. */
  cameAtAll: boolean;
  /** The last device, running or ended. */
  device: Device | undefined;
}

/** How often elapsed time is checked. Events are looked at when they happen. */
const lookEveryMs = 100;
/** After a command ends, its sockets close within this time. */
const afterEndMs = 500;

/**
 * How long a situation lasts at most. A device that the drill does not start remembers the failures of earlier situations, so its
 * next pause may be its longest one: it has as much time as for its first connection.
 */
export function longestMsOf(
  { longest }: Pick<Situation, 'longest'>,
  { deviceTimeoutMs, start }: Pick<FollowOptions, 'deviceTimeoutMs' | 'start'>,
): number {
  const comebackMs = start === undefined ? Math.max(longest.ms, deviceTimeoutMs) : longest.ms;
  return longest.notices === true ? deviceTimeoutMs + comebackMs : comebackMs;
}

/** Lets a situation happen, until all has been seen or its time is over. Rejects with the signal's reason. */
export async function followSituation(options: FollowOptions): Promise<Followed> {
  const { situation, stage, clock, signal, deviceTimeoutMs, start, onStopNeeded } = options;
  const { watch, elsewhere, address } = stage;
  const startedAt = clock.now();
  const done: number[] = [];
  const state: DeviceState = { starts: 0, ended: undefined };
  let device: Device | undefined;
  let isRunning = false;
  let isFollowed = true;
  /** When the last device ended. */
  let endedAt: number | undefined;
  let cameAt: number | undefined;

  const launch = async () => {
    if (start === undefined) return;
    state.starts += 1;
    isRunning = true;
    // What the one before left behind would take part in this situation, or in the next one.
    await device?.kill();
    const one = await start(address);
    device = one;
    if (!isFollowed) return one.kill();
    void one.ended.then((status) => {
      isRunning = false;
      endedAt = clock.now();
      state.ended ??= { at: endedAt, status };
      look();
    });
  };
  const viewNow = (): DrillView => ({
    now: clock.now(),
    seen: watch.seen(),
    journal: watch.journal,
    isShared: watch.isShared,
    elsewhere: elsewhere.seen().flatMap(({ exchange }) => (exchange.kind === 'token' ? [exchange] : [])),
    done,
    device: { ...state },
    deviceTimeoutMs,
  });

  const doNext = (view: DrillView) => {
    const step = situation.steps?.[done.length];
    if (step === undefined || !step.when(view)) return;
    done.push(view.now);
    if (!('stop' in step.do)) stage.do(step.do);
    else if (device === undefined) onStopNeeded();
    else device.stop();
  };
  const isOver = (view: DrillView): boolean => {
    if (cameAt === undefined) return view.now - startedAt >= deviceTimeoutMs || isGone(view);
    const since = situation.longest.notices === true ? (done[0] ?? cameAt) : cameAt;
    if (view.now - since >= longestMsOf(situation, options)) return true;
    return isGone(view) && !mayRestart();
  };
  const isGone = ({ now }: DrillView) => !isRunning && endedAt !== undefined && now - endedAt >= afterEndMs;
  const mayRestart = () => situation.restarts === true && state.starts === 1 && cameAt !== undefined;

  const finished = createDeferred<Followed>();
  let isPending = false;
  const look = () => {
    if (isPending) return;
    isPending = true;
    atTurnEnd(examine, undefined);
  };
  const examine = () => {
    isPending = false;
    const view = viewNow();
    if (watch.hasCome()) cameAt ??= view.now;
    doNext(view);
    if ((cameAt !== undefined && situation.until(view)) || isOver(view))
      finished.resolve({ view, cameAtAll: cameAt !== undefined, device });
    else if (isGone(view) && mayRestart()) launch().catch(finished.reject);
  };
  const timer = repeat(clock, lookEveryMs, look);
  options.onReady(look);
  try {
    signal.throwIfAborted();
    await launch();
    return await abortable(finished.promise, signal);
  } catch (thrown) {
    isFollowed = false;
    await device?.kill();
    throw thrown;
  } finally {
    isFollowed = false;
    timer.cancel();
  }
}

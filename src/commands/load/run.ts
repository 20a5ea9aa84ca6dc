import { createHash, randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { loadPcm, openWavStream } from '../../audio/wav/wav-source.ts';
import { convertToPcm } from '../../audio/whole-pcm.ts';
import { arrivalText } from '../../config/arrival.ts';
import {
  keyFileOf,
  refuseSharedInput,
  resolveTarget,
  type Target,
  warnOfShortSecret,
} from '../../config/target.ts';
import type { Threshold } from '../../config/threshold.ts';
import { nameOf } from '../../files/refusal.ts';
import { systemClock } from '../../kernel/clock.ts';
import { toVoicectlError, VoicectlError } from '../../kernel/errors.ts';
import { whenAborted } from '../../kernel/promises.ts';
import { version } from '../../kernel/version.ts';
import { longestDurationMs } from '../../protocol/read-duration.ts';
import { clipMs } from '../../runs/load/clip.ts';
import { type LoadOrder, planLoad } from '../../runs/load/plan.ts';
import { createProcessCrew, loadWorker } from '../../runs/load/process-crew.ts';
import type { LoadFacts } from '../../runs/load/result.ts';
import {
  type CrewJob,
  createOwnCrew,
  type LoadCrew,
  type LoadProgress,
  runLoad,
} from '../../runs/load/run-load.ts';
import { judgeResult } from '../../runs/load/summary.ts';
import type { ContextOf } from '../command.ts';
import { openBaseline } from '../compare/baseline.ts';
import { type MakeReport, reportRun } from '../run-reporter.ts';
import { finishLoad } from './finish.ts';
import { readOrder, readThresholds, requireConfirmed } from './order.ts';
import { createLoadLines, type LoadView, showPlan } from './view.ts';

/** From the moment when all generators are ready to the first arrival. */
const leadMs = 300;
const defaultSound = 'hello.wav';

export async function run(context: ContextOf<'load'>): Promise<number> {
  const { junit, dryRun, baseUrl } = context.settings;
  if (dryRun) return load(context, () => {});
  return reportRun(context, { command: 'load', subject: baseUrl, junit }, (report) => load(context, report));
}

async function load(context: ContextOf<'load'>, report: (make: MakeReport) => void): Promise<number> {
  const { settings, io } = context;
  if (context.origin('metricsAllow') === 'flag' && settings.metricsPort === undefined)
    throw new VoicectlError('usage', '--metrics-allow needs --metrics PORT');
  const shard = settings.shard ?? { number: 1, of: 1 };
  const startAt = readStart(context);
  const pcm = await readSound(context);
  const target = await openTarget(context);
  const order = readOrder(context, { clipMs: clipMs(pcm), startAt });
  const { thresholds, abortOn } = readThresholds(context, order);
  const { cost } = planLoad(order);
  const facts: LoadFacts = {
    version,
    target: target.baseUrl,
    task: order.task,
    arrival: arrivalText(order.arrival),
    seed: order.seed,
    startAt,
    cost,
    ...(order.clean === undefined ? {} : { clean: order.clean }),
  };
  await showPlan(context, facts);
  if (settings.dryRun) return 0;
  requireConfirmed(target, settings);
  const judge = await openBaseline(context, context.origin('tolerance'));
  // Everything that can be refused comes before the processes, which would be left running.
  const metrics = await openMetrics(context);
  let crew: LoadCrew | undefined;
  let view: LoadView | undefined;
  try {
    crew = await openCrew(context, { order, target, pcm, startAt });
    const shown = await openView(context, facts, thresholds);
    view = shown;
    context.awaits('the sessions to end');
    const begun = settings.startAt ?? io.clock.wall() + leadMs;
    shown.planned(begun);
    const parts = await runLoad({
      facts: { ...facts, startAt: begun },
      shard,
      signal: shown.signal,
      abortOn,
      crew: endsSoon(crew, shown.signal),
      onProgress(progress) {
        metrics?.passed(progress);
        shown.progress(progress);
      },
      onNotice: shown.notice,
    });
    const ended = shown.signal.aborted ? toVoicectlError(shown.signal.reason) : undefined;
    const judged = judgeResult(parts, thresholds);
    await shown.finish(judged.summary);
    await shown.close();
    return await finishLoad(context, judged, { report, ended, judge });
  } finally {
    crew?.close();
    await metrics?.close();
    await view?.close();
  }
}

/** What the users of the sessions say. */
async function readSound(context: ContextOf<'load'>): Promise<Buffer> {
  const { settings, stdin, signal, awaits } = context;
  const { file = defaultSound } = settings;
  if (file !== '-') return loadPcm(file, { signal });
  refuseSharedInput('the audio', { secret: keyFileOf(context), ca: settings.ca });
  awaits(nameOf(file));
  return convertToPcm(await openWavStream(stdin, { signal }), { signal });
}

/** Serves the metrics of the run with `--metrics`. */
async function openMetrics({ settings, io, note }: ContextOf<'load'>) {
  const { metricsPort, metricsAllow } = settings;
  if (metricsPort === undefined) return undefined;
  const { createMetricsEndpoint } = await import('../../service/metrics/service-metrics.ts');
  const { loadFamilies, openMetricsServer } = await import('../../runs/load/metrics-server.ts');
  let latest: LoadProgress | undefined;
  const metrics = createMetricsEndpoint({
    ...{ allow: metricsAllow, clock: io.clock, command: 'load' },
    families: () => loadFamilies(latest),
  });
  const isOpen = metricsAllow.length > 0;
  const server = await openMetricsServer(metrics, { port: metricsPort, isOpen }).catch((thrown) => {
    if (!(thrown instanceof VoicectlError) || thrown.code !== 'port-in-use') throw thrown;
    const hint = 'Choose another port with --metrics, or let the system choose one with --metrics 0.';
    throw new VoicectlError(thrown.code, thrown.message, { hint, cause: thrown.cause });
  });
  await note(`Metrics: ${server.url}`);
  return {
    passed(progress: LoadProgress) {
      latest = progress;
    },
    close: server.close,
  };
}

/** After a request to end, sessions have this long to close. */
const lastCloseMs = 1_000;

/** A crew that has only a moment left when the signal ends the run. */
function endsSoon(crew: LoadCrew, signal: AbortSignal): LoadCrew {
  const lastMoment = async () => {
    await whenAborted(signal);
    await new Promise<void>((resolve) => systemClock.after(lastCloseMs, resolve, { background: true }));
  };
  return { ...crew, run: (...given) => Promise.race([crew.run(...given), lastMoment()]) };
}

/** The planned start: now for one machine; for several, the time that all of them were given. Throws `usage`. */
function readStart({ settings, io }: ContextOf<'load'>): number {
  const { startAt } = settings;
  if (startAt !== undefined && startAt < io.clock.wall()) {
    throw new VoicectlError('usage', `--start-at ${new Date(startAt).toISOString()} is in the past`, {
      hint: 'Choose a time that gives all machines time to start, and check their clocks.',
    });
  }
  if (startAt !== undefined && startAt - io.clock.wall() > longestDurationMs) {
    throw new VoicectlError(
      'usage',
      `--start-at ${new Date(startAt).toISOString()} is more than 24 days ahead`,
    );
  }
  return startAt ?? Math.round(io.clock.wall());
}

async function openTarget(context: ContextOf<'load'>): Promise<Target> {
  const { settings, stdin, signal, awaits } = context;
  const connection = {
    settings: { ...settings, local: undefined, device: undefined },
    origin: (name: Parameters<ContextOf<'load'>['origin']>[0] | 'local' | 'device') =>
      name === 'local' || name === 'device' ? undefined : context.origin(name),
  };
  const target = await resolveTarget(connection, { stdin, signal, awaits, needsKey: !settings.dryRun });
  await warnOfShortSecret(target.apiKey, 'The API key', context.warn);
  return target;
}

async function openView(
  context: ContextOf<'load'>,
  facts: LoadFacts,
  thresholds: readonly Threshold[],
): Promise<LoadView> {
  const { io, output } = context;
  if (output !== 'tui' || io.terminal === undefined) return createLoadLines(context);
  const { createLoadScreen } = await import('./screen.ts');
  return createLoadScreen(context, facts, { device: io.terminal, thresholds });
}

/**
 * Each run has its own devices: those of the previous run may still be limited, and somebody else’s run may start at the
 * same moment. `shared`: the order of a run in shards, which have the same devices.
 */
function devicePrefix(startAt: number, shared: LoadOrder | undefined): string {
  const own = shared
    ? createHash('sha256')
        .update(JSON.stringify([startAt, shared]))
        .digest()
    : randomBytes(32);
  return `load-${Math.floor(startAt / 1000).toString(36)}-${own.readUInt32BE().toString(36).padStart(6, '0').slice(-6)}`;
}

interface CrewParts {
  order: LoadOrder;
  target: Target;
  pcm: Buffer;
  startAt: number;
}

function openCrew(
  { settings, io, signal }: ContextOf<'load'>,
  { order, target: { baseUrl, wsUrl, apiKey, ca }, pcm, startAt }: CrewParts,
): LoadCrew | Promise<LoadCrew> {
  const shard = settings.shard ?? { number: 1, of: 1 };
  const job: CrewJob = {
    order,
    target: { baseUrl, wsUrl, apiVersion: settings.apiVersion, apiKey, ca },
    pcm,
    share: { part: shard.number - 1, of: shard.of },
    devicePrefix: settings.devicePrefix ?? devicePrefix(startAt, settings.shard && order),
  };
  const { loadProcesses } = settings;
  if (loadProcesses === 'none') return createOwnCrew(job, io.clock);
  const processes = loadProcesses === 'auto' ? availableParallelism() : loadProcesses;
  const { env, clock } = io;
  return createProcessCrew(job, { worker: fileURLToPath(loadWorker), processes, env, clock, signal });
}

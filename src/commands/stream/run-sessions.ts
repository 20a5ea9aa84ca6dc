import { type RepeatSummary, type RunResult, runRepeatedly } from '../../runs/repeat.ts';
import { foldAudio } from '../../session/fold-audio.ts';
import { openTarget } from '../service/target.ts';
import type { LiveEnds } from './live-ends.ts';
import { openSinks } from './open-sinks.ts';
import { openSource } from './open-source.ts';
import { requireRepeatable } from './repetition.ts';
import { sessionOptions } from './session-settings.ts';
import { startSession } from './start-session.ts';
import type { StreamContext, StreamView } from './view.ts';

export interface RunReports {
  /** Called for each run that counts. */
  ran(result: RunResult): void;
  /** Called with the result of several runs. */
  total(summary: RepeatSummary): void;
}

/** Opens both ends, and runs one session or several. */
export async function runSessions(
  context: StreamContext,
  view: StreamView,
  reports: RunReports,
): Promise<void> {
  const { settings, io, signal } = context;

  const { repeat, warmup } = settings;
  const isLive =
    settings.mic || settings.play || settings.recordMic !== undefined || context.origin('aec') === 'flag';
  const file = await openSource(settings, io, signal);
  requireRepeatable(settings, file?.source);
  const target = await openTarget(context, {
    needsKey: settings.tokenFrom === undefined,
  });
  let live: LiveEnds | undefined;
  try {
    live = isLive ? await (await import('./live-ends.ts')).openLiveEnds(context) : undefined;
    const source = file ?? live?.microphone;
    if (source === undefined) throw new TypeError('a session without a file has a microphone');
    const { conversation } = file ?? {};
    const options = await sessionOptions(context, { target, source, conversation, live });
    const heard = live?.sinks ?? [];
    view.attach(live);
    await view.run(async function* (until, enough) {
      const startRun = async function* () {
        const events = await startSession(
          { ...options, ...(enough === undefined ? {} : { enough }) },
          {
            folder: settings.record,
            both:
              settings.recordBoth === undefined
                ? undefined
                : { path: settings.recordBoth, giveUp: io.giveUp },
            openSinks: async () => [...(await openSinks(settings.out, io)), ...heard],
            signal: until,
          },
        );
        yield* view.isDetailed ? events : foldAudio(events, 1_000);
      };
      const several = { clock: options.clock, device: options.device, repeat, warmup, onRun: reports.ran };
      for await (const event of runRepeatedly(startRun, several, until)) {
        if (event.type === 'summary' && 'runs' in event) reports.total(event);
        yield event;
      }
    });
  } finally {
    try {
      await live?.close();
    } finally {
      await target.close();
    }
  }
}

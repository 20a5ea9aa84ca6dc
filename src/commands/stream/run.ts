import { basename } from 'node:path';
import { streamOptions } from '../../config/options.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { defineCommand } from '../command.ts';
import type { LiveEnds } from './live-ends.ts';
import type { RunReports } from './run-reports.ts';
import type { StreamContext, StreamView } from './view.ts';

export const streamCommand = defineCommand({
  name: 'stream',
  summary: 'ask for a token, connect, stream audio, receive the AI audio',
  options: streamOptions,
  examples: [
    'voicectl stream --file hello.wav --local --expect-audio',
    'voicectl stream --file hello.wav --out reply.wav --json',
    'voicectl stream --mic --local',
    'sox in.flac -t wav - | voicectl stream --file - --out - | sox -t raw -r 16k -e signed -b 16 -c 1 - out.flac',
  ],
  async run(context) {
    const { settings } = context;
    const { withReports } = await import('./run-reports.ts');
    const { junit } = settings;
    await withReports(context, { command: 'stream', subject: subjectOf(context), junit }, async (reports) => {
      if (settings.local !== true && context.origin('reply') === 'flag') {
        throw new VoicectlError(
          'usage',
          '--reply is for the emulator of --local; another service replies as it does',
        );
      }
      // First of all: the thread that draws starts while all else is loaded.
      const view = await openView(context);
      try {
        await runSessions({ ...context, note: view.note }, view, reports);
      } finally {
        await view.close();
      }
    });
    return 0;
  },
});

/** What is streamed, in a word. */
function subjectOf({ settings: { file, raw, replay, expectFile, mic } }: StreamContext): string {
  return basename(file ?? raw ?? replay ?? expectFile ?? (mic ? 'microphone' : ''));
}

async function runSessions(context: StreamContext, view: StreamView, reports: RunReports): Promise<void> {
  const { settings, io, signal } = context;
  const { openSource } = await import('./open-source.ts');
  const { openSinks } = await import('./open-sinks.ts');
  const { openTarget } = await import('../service/target.ts');
  const { sessionOptions } = await import('./session-settings.ts');
  const { startSession } = await import('./start-session.ts');
  const { requireRepeatable } = await import('./repetition.ts');
  const { runRepeatedly } = await import('../../runs/repeat.ts');
  const { foldAudio } = await import('../../session/fold-audio.ts');

  const { repeat, warmup } = settings;
  const isLive = settings.mic || settings.play || settings.recordMic !== undefined;
  const file = await openSource(settings, io, signal);
  requireRepeatable(settings, file?.source);
  const target = await openTarget(context, {
    reply: settings.reply,
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
            openSinks: async () => [...(await openSinks(settings.out, io.stdout)), ...heard],
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

async function openView(context: StreamContext): Promise<StreamView> {
  const { settings, io, output } = context;
  const { repeat, warmup, tokenFrom, out, record, mic, play } = settings;
  // A screen is for one session: of several the figures count, and lines tell them.
  if (output !== 'tui' || io.terminal === undefined || repeat + warmup > 1) {
    const { createStreamLines } = await import('./view.ts');
    return createStreamLines(context);
  }
  const { createStreamScreen } = await import('./screen.ts');
  // Another session needs a token of its own and a source from its beginning, and must not write over the first.
  const once = tokenFrom ?? out ?? record;
  return createStreamScreen(context, {
    device: io.terminal,
    sourceName: subjectOf(context),
    canMute: mic === true,
    canReconnect: once === undefined && !mic && !play,
  });
}

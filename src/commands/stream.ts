import { basename } from 'node:path';
import { streamOptions } from '../config/options.ts';
import { VoicectlError } from '../errors.ts';
import { defineCommand } from './command.ts';
import type { LiveEnds } from './live-ends.ts';

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
    const { settings, io, lines, json, quiet, verbose, signal, style } = context;
    const { openSource } = await import('./open-source.ts');
    const { openSinks } = await import('./open-sinks.ts');
    const { openTarget } = await import('./local-emulator.ts');
    const { sessionOptions } = await import('./session-settings.ts');
    const { startSession } = await import('./start-session.ts');
    const { withReports } = await import('./run-reports.ts');
    const { requireRepeatable } = await import('./repetition.ts');
    const { runRepeatedly } = await import('../session/repeat.ts');
    const { foldAudio } = await import('../session/fold-audio.ts');
    const { printEvent } = await import('./print-event.ts');

    const { raw, replay, expectFile, repeat, warmup, junit } = settings;
    const subject = basename(
      settings.file ?? raw ?? replay ?? expectFile ?? (settings.mic ? 'microphone' : ''),
    );
    await withReports(context, { command: 'stream', subject, junit }, async (reports) => {
      if (settings.local !== true && context.origin('reply') === 'flag') {
        throw new VoicectlError(
          'usage',
          '--reply is for the emulator of --local; another service replies as it does',
        );
      }
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
        live?.listenForKeys();
        const startRun = async function* () {
          const events = await startSession(options, {
            folder: settings.record,
            openSinks: async () => [...(await openSinks(settings.out, io.stdout)), ...heard],
            signal,
          });
          yield* verbose ? events : foldAudio(events, 1_000);
        };
        const several = { clock: options.clock, device: options.device, repeat, warmup, onRun: reports.ran };
        for await (const event of runRepeatedly(startRun, several, signal)) {
          if (event.type === 'summary' && 'runs' in event) reports.total(event);
          await printEvent(event, { io, lines, json, quiet, verbose, style });
        }
      } finally {
        await live?.close();
        await target.close();
      }
    });
    return 0;
  },
});

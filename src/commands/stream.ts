import { streamOptions } from '../config/options.ts';
import { VoicectlError } from '../errors.ts';
import { defineCommand } from './command.ts';

export const streamCommand = defineCommand({
  name: 'stream',
  summary: 'ask for a token, connect, stream audio, receive the AI audio',
  options: streamOptions,
  examples: [
    'voicectl stream --file hello.wav --local --expect-audio',
    'voicectl stream --file hello.wav --out reply.wav --json',
    'sox in.flac -t wav - | voicectl stream --file - --out - | sox -t raw -r 16k -e signed -b 16 -c 1 - out.flac',
  ],
  async run(context) {
    const { settings, io, lines, json, quiet, verbose, signal, style } = context;
    const { openSource } = await import('./open-source.ts');
    const { openSinks } = await import('./open-sinks.ts');
    const { openTarget } = await import('./local-emulator.ts');
    const { sessionOptions } = await import('./session-settings.ts');
    const { startSession } = await import('./start-session.ts');
    const { foldAudio } = await import('../session/fold-audio.ts');
    const { isWarning, sessionLines } = await import('../report/session-lines.ts');
    const { jsonLine } = await import('../escape.ts');

    if (settings.local !== true && context.origin('reply') === 'flag') {
      throw new VoicectlError(
        'usage',
        '--reply is for the emulator of --local; another service replies as it does',
      );
    }
    const { source, name } = await openSource(settings, io, signal);
    const target = await openTarget(context, {
      reply: settings.reply,
      needsKey: settings.tokenFrom === undefined,
    });
    try {
      const options = await sessionOptions(context, { target, source, sourceName: name });
      const events = await startSession(options, {
        folder: settings.record,
        openSinks: () => openSinks(settings.out, io.stdout),
        signal,
      });
      for await (const event of verbose ? events : foldAudio(events, 1_000)) {
        if (json) await lines.write(jsonLine(event));
        else if (!quiet) for (const line of sessionLines(event, style)) await lines.write(`${line}\n`);
        else if (isWarning(event))
          for (const line of sessionLines(event, style)) await io.stderr.write(`${line}\n`);
      }
      return 0;
    } finally {
      await target.close();
    }
  },
});

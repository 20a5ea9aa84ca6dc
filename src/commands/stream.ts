import { streamOptions } from '../config/options.ts';
import { VoicectlError } from '../errors.ts';
import { defineCommand } from './command.ts';
import type { StreamContext, StreamView } from './stream-view.ts';

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
    const { settings } = context;
    if (settings.local !== true && context.origin('reply') === 'flag') {
      throw new VoicectlError(
        'usage',
        '--reply is for the emulator of --local; another service replies as it does',
      );
    }
    // First of all: the thread that draws starts while all else is loaded.
    const view = await openView(context);
    try {
      await runSessions(context, view);
      return 0;
    } finally {
      await view.close();
    }
  },
});

async function runSessions(context: StreamContext, view: StreamView): Promise<void> {
  const { settings, io, signal } = context;
  const { openSource } = await import('./open-source.ts');
  const { openSinks } = await import('./open-sinks.ts');
  const { openTarget } = await import('./local-emulator.ts');
  const { sessionOptions } = await import('./session-settings.ts');
  const { runSession } = await import('../session/session.ts');

  const { source, name } = await openSource(settings, io, signal);
  const target = await openTarget(context, {
    reply: settings.reply,
    needsKey: settings.tokenFrom === undefined,
  });
  try {
    const options = await sessionOptions(context, { target, source, sourceName: name });
    await view.run(async (until, enough) => {
      // Last of all: a file that is there is emptied only for a session that begins.
      const sinks = await openSinks(settings.out, io.stdout);
      return runSession({ ...options, ...(enough === undefined ? {} : { enough }), sinks }, until);
    });
  } finally {
    await target.close();
  }
}

async function openView(context: StreamContext): Promise<StreamView> {
  const { settings, io, output } = context;
  if (output !== 'tui' || io.terminal === undefined) {
    const { createStreamLines } = await import('./stream-view.ts');
    return createStreamLines(context);
  }
  const { createStreamScreen } = await import('./stream-screen.ts');
  const sourceName = settings.file ?? settings.raw ?? '';
  const canReconnect = settings.tokenFrom === undefined && settings.out === undefined;
  return createStreamScreen(context, { device: io.terminal, sourceName, canReconnect });
}

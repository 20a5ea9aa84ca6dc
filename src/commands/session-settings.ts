import type { AudioSource } from '../audio/source.ts';
import { requestToken } from '../client/token.ts';
import { openVoiceStream } from '../client/voice-stream.ts';
import { systemClock } from '../clock.ts';
import { readText, type Target } from '../config/target.ts';
import { VoicectlError } from '../errors.ts';
import type { AudioSink } from '../session/output.ts';
import type { SessionOptions } from '../session/session.ts';
import { version } from '../version.ts';
import type { CommandContext } from './command.ts';
import type { streamCommand } from './stream.ts';

type StreamContext = CommandContext<(typeof streamCommand)['options'][number]>;

export interface SessionParts {
  target: Target;
  source: AudioSource;
  sourceName: string;
  sinks: readonly AudioSink[];
}

/** What the flags of `stream` ask of the session. */
export async function sessionOptions(
  { settings, io }: StreamContext,
  parts: SessionParts,
): Promise<SessionOptions> {
  const { baseUrl, wsUrl, device, apiKey } = parts.target;
  const { tokenFrom, apiVersion, retries } = settings;
  return {
    client: { requestToken, openVoiceStream },
    clock: systemClock,
    version,
    baseUrl,
    wsUrl,
    device,
    auth:
      tokenFrom === undefined
        ? { apiKey, apiVersion, retries }
        : { token: await readGivenToken(tokenFrom, io) },
    source: parts.source,
    sourceName: parts.sourceName,
    sinks: parts.sinks,
    pace: settings.pace,
    frameMs: settings.frameMs,
    tailMs: settings.tail,
    waitMs: settings.wait,
    settleMs: settings.settle,
    loop: settings.loop ?? false,
    durationMs: settings.duration,
    maxBufferedBytes: settings.maxFrameBuffer,
    expectations: {
      audioMs: settings.expectAudio,
      maxFirstAudioMs: settings.maxFirstAudio,
      events: settings.expectEvent,
      forbiddenEvents: settings.forbidEvent,
      maxGapMs: settings.maxGap,
      closeCode: settings.expectClose,
    },
  };
}

/** The token in the environment variable of this name, or else in the file. */
async function readGivenToken(from: string, io: StreamContext['io']): Promise<string> {
  const token = (io.env[from] ?? (await readText(from, io.stdin))).trim();
  if (token === '') throw new VoicectlError('bad-input', `There is no token in ${from}`);
  return token;
}

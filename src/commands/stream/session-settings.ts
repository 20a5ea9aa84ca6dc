import type { NamedSource } from '../../audio/source.ts';
import { limitSetting } from '../../config/options/expectation.ts';
import { checkSecret, keyFileOf, refuseSharedInput, type Target } from '../../config/target.ts';
import { readText, type Stdin } from '../../files/read-text.ts';
import { fileExists } from '../../files/shipped-file.ts';
import { audioLimitNames } from '../../kernel/audio-limits.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { version } from '../../kernel/version.ts';
import type { Expectations } from '../../session/expectations.ts';
import type { SessionOptions } from '../../session/options.ts';
import type { ContextOf } from '../command.ts';
import type { LiveEnds } from './live-ends.ts';
import type { ConversationFile } from './open-conversation.ts';

export interface SessionParts {
  target: Target;
  /** A file, or the microphone. */
  source: NamedSource;
  /** The conversation of `--expect-file`, instead of the source. */
  conversation?: ConversationFile | undefined;
  live: LiveEnds | undefined;
}

/** The key, or the given token, that authorises a session. */
export async function readAuth(
  context: ContextOf<'stream'>,
  { apiKey }: Pick<Target, 'apiKey'>,
): Promise<SessionOptions['auth']> {
  const { tokenFrom, apiVersion, retries } = context.settings;
  return tokenFrom === undefined
    ? { apiKey, apiVersion, retries }
    : { token: await readGivenToken(tokenFrom, context) };
}

/** Throws `usage` if the key, the token or the certificates are read from standard input too, which is `what`. */
export function refuseInputForBoth(context: ContextOf<'stream'>, what: string): void {
  const { tokenFrom, local, ca } = context.settings;
  // A config file may name a key file for other runs.
  const secret = tokenFrom ?? (local ? undefined : keyFileOf(context));
  refuseSharedInput(what, { secret, ca: local ? undefined : ca });
}

/** The session's options from the flags of `stream`, except the outputs. */
export async function sessionOptions(
  context: ContextOf<'stream'>,
  parts: SessionParts,
): Promise<Omit<SessionOptions, 'sinks'>> {
  const { settings, io } = context;
  const { baseUrl, wsUrl, device, ca } = parts.target;
  return {
    clock: io.clock,
    version,
    baseUrl,
    wsUrl,
    device,
    ca,
    auth: await readAuth(context, parts.target),
    source: parts.source.source,
    sourceName: parts.source.name,
    pace: paceOf(settings, parts),
    frameMs: settings.frameMs,
    tailMs: settings.tail,
    waitMs: settings.wait,
    settleMs: settings.settle,
    loop: settings.loop ?? false,
    durationMs: settings.duration,
    maxBufferedBytes: settings.maxFrameBuffer,
    bargeIn: settings.bargeIn ?? false,
    notices: parts.live?.notices,
    expectations: expectationsOf(settings, parts.conversation?.expectations),
    conversation: parts.conversation?.plan,
  };
}

function paceOf(
  { mic, pace }: ContextOf<'stream'>['settings'],
  { conversation }: Pick<SessionParts, 'conversation'>,
): SessionOptions['pace'] {
  // A microphone sets the pace with its own clock, from which any other clock would drift.
  if (mic) return 'max';
  // This pace of a config file is for files without turns.
  return conversation !== undefined && pace === 'max' ? 1 : pace;
}

/** The expectations of the flags; where a flag is missing, of the file. */
function expectationsOf(flags: ContextOf<'stream'>['settings'], file: Expectations = {}): Expectations {
  return {
    ...Object.fromEntries(audioLimitNames.map((name) => [name, flags[limitSetting(name)] ?? file[name]])),
    events: [...(file.events ?? []), ...flags.expectEvent],
    forbiddenEvents: [...(file.forbiddenEvents ?? []), ...flags.forbidEvent],
    closeCode: flags.expectClose ?? file.closeCode,
    clean: flags.expectClean ?? file.clean,
  };
}

/** The token in the environment variable of this name, or else in the file. */
async function readGivenToken(from: string, context: ContextOf<'stream'>): Promise<string> {
  const token = (context.io.env[from] ?? (await readTokenFile(from, context))).trim();
  if (token === '') throw new VoicectlError('bad-input', `There is no token in ${from}`);
  return checkSecret(token, 'The token');
}

async function readTokenFile(path: string, input: Stdin): Promise<string> {
  if (path !== '-' && !(await fileExists(path))) {
    // Some users pass the token itself. Do not show it.
    throw new VoicectlError('bad-input', '--token-from: there is no variable or file with this name', {
      hint: 'It takes the name of a variable or a file, not the token itself.',
    });
  }
  return readText(path, input);
}

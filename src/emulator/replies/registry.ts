import { loadPcm } from '../../audio/wav/wav-source.ts';
import { plainReplies, type repliesWithArgument, replyModes } from '../../config/parse.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { didYouMean } from '../../protocol/suggestion.ts';
import { playPcm } from '../../service/streams/playable.ts';
import { replyByCommand } from './exec.ts';
import { loadModule } from './module.ts';
import type { CreateReply, ReplyMode } from './reply.ts';
import { tone } from './tone.ts';
import { takeTurns } from './turns.ts';

/** Listens and sends no audio, not even silent frames. */
export const silence: CreateReply = () => ({ hear() {} });

/** Repeats each turn of the user when it has ended. */
const parrot = takeTurns(playPcm);

/** Replies to each turn with a WAV file. Reads and converts it once, at the start. */
async function sayFile(path: string, { signal }: ReplyOptions): Promise<CreateReply> {
  const pcm = await loadPcm(path, { signal });
  return takeTurns(() => playPcm(pcm));
}

/** Sends every audio message back at once. */
export const echo: CreateReply = ({ send }) => ({ hear: send });

/** Reply modes without an argument. */
const plain: Record<(typeof plainReplies)[number], CreateReply> = { parrot, echo, tone, silence };

/** Reply modes with an argument after the colon. */
const withArgument: Record<
  keyof typeof repliesWithArgument,
  (argument: string, options: ReplyOptions) => Promise<ReplyMode>
> = {
  file: sayFile,
  exec: async (command) => replyByCommand(command),
  module: loadModule,
  replay: async (folder, { replaySpeed = 1 }) => {
    const { replayRecording } = await import('./replay.ts');
    return replayRecording(folder, replaySpeed);
  },
};

/** The folder of a mode `replay:DIR`; undefined for other modes. */
export function replayedFolder(mode: string): string | undefined {
  return mode.startsWith(replayPrefix) ? mode.slice(replayPrefix.length) : undefined;
}

const replayPrefix = 'replay:';

export interface ReplyOptions {
  /** Speed of a replay; 2 is twice as fast. */
  replaySpeed?: number | undefined;
  /** Ends the wait for the file of the mode. */
  signal?: AbortSignal | undefined;
}

/** Makes a reply mode from its text. Throws `usage` for an unknown name, `bad-input` for an unusable file. */
export async function createReplyMode(mode: string, options: ReplyOptions = {}): Promise<ReplyMode> {
  const simple = plainReplies.find((name) => name === mode);
  if (simple !== undefined) return plain[simple];
  const colon = mode.indexOf(':');
  const name = mode.slice(0, colon);
  const argument = mode.slice(colon + 1);
  const made =
    colon > 0 && Object.hasOwn(withArgument, name) ? (name as keyof typeof withArgument) : undefined;
  if (made !== undefined && argument !== '') return withArgument[made](argument, options);
  const known = [...Object.keys(plain), ...Object.keys(withArgument)];
  const meant = didYouMean(mode.split(':', 1)[0] ?? '', known);
  throw new VoicectlError('usage', `Unknown reply mode: ${mode}${meant}`, {
    hint: `Use one of ${replyModes.join(', ')}.`,
  });
}

import { openRawFile, openRawStream } from '../../audio/raw-source.ts';
import type { AudioSource } from '../../audio/source.ts';
import { describeFormat, wireFormat } from '../../audio/source-format.ts';
import { openWavFile, openWavStream } from '../../audio/wav/wav-source.ts';
import type { Settings } from '../../config/options.ts';
import { nameOf } from '../../files/refusal.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import type { Io } from '../../kernel/io.ts';
import { type ConversationFile, openConversation } from './open-conversation.ts';

type SourceSettings = Settings<
  | 'file'
  | 'raw'
  | 'mic'
  | 'replay'
  | 'expectFile'
  | 'strictFormat'
  | 'loop'
  | 'pace'
  | 'apiKeyFile'
  | 'tokenFrom'
>;

interface OpenedSource {
  source: AudioSource;
  name: string;
  /** The conversation of `--expect-file`. Then the source is empty. */
  conversation?: ConversationFile;
}

/**
 * Opens the file of the flags; undefined if they name the microphone. Throws `usage` for no source or several,
 * `bad-input` for one that cannot be read.
 */
export async function openSource(
  { file, raw, mic, replay, expectFile, strictFormat, loop, pace, apiKeyFile, tokenFrom }: SourceSettings,
  io: Io,
  signal: AbortSignal,
): Promise<OpenedSource | undefined> {
  const path = file ?? raw ?? replay ?? expectFile;
  const named = [file, raw, replay, expectFile, mic || undefined].filter((one) => one !== undefined);
  if (named.length !== 1) {
    const what = named.length === 0 ? 'Nothing to stream' : 'More than one source to stream';
    throw new VoicectlError('usage', what, {
      hint: 'Give one of --file PATH, --raw PATH, --mic, --replay DIR and --expect-file FILE.',
    });
  }
  if (path === undefined) return undefined;
  if (path === '-' && (apiKeyFile === '-' || tokenFrom === '-')) {
    throw new VoicectlError('usage', 'Standard input cannot be the audio and a key or token at once');
  }
  const name = nameOf(path);
  if (expectFile !== undefined) {
    if (pace === 'max')
      throw new VoicectlError('usage', 'A conversation runs in real time: --pace max cannot be used');
    const conversation = await openConversation(path, { strictFormat, env: io.env, stdin: io.stdin, signal });
    return { source: nothing, name, conversation };
  }
  const source = await open(path);
  if (loop && !source.repeatable) {
    throw new VoicectlError('usage', `--loop needs a file that can be read again; ${name} cannot`);
  }
  return { source, name };

  async function open(path: string): Promise<AudioSource> {
    if (replay !== undefined) {
      const { openReplaySource } = await import('../../recording/replay-source.ts');
      return openReplaySource(replay);
    }
    const isInput = path === '-';
    if (raw !== undefined)
      return isInput ? openRawStream(io.stdin, { signal }) : openRawFile(raw, { signal });
    const options = { strictFormat, signal };
    return isInput ? openWavStream(io.stdin, options) : openWavFile(path, options);
  }
}

/** Stands in for the source when a conversation provides the audio. */
const nothing: AudioSource = {
  description: describeFormat(wireFormat),
  durationMs: 0,
  repeatable: true,
  async *read() {},
};

import { openRawFile, openRawStream } from '../audio/raw-source.ts';
import type { AudioSource } from '../audio/source.ts';
import { openWavFile, openWavStream } from '../audio/wav-source.ts';
import type { Settings } from '../config/options.ts';
import { VoicectlError } from '../errors.ts';
import type { Io } from '../io.ts';

type SourceSettings = Settings<
  'file' | 'raw' | 'replay' | 'strictFormat' | 'loop' | 'apiKeyFile' | 'tokenFrom'
>;

/** The one source that the flags name, opened. Throws `usage` for none or two, `bad-input` for one that cannot be read. */
export async function openSource(
  { file, raw, replay, strictFormat, loop, apiKeyFile, tokenFrom }: SourceSettings,
  io: Io,
  signal: AbortSignal,
): Promise<{ source: AudioSource; name: string }> {
  const given = [file, raw, replay].filter((one) => one !== undefined);
  if (given.length !== 1) {
    throw new VoicectlError(
      'usage',
      given.length === 0 ? 'Nothing to stream' : 'More than one source to stream',
      {
        hint: 'Give one of --file PATH, --raw PATH and --replay DIR.',
      },
    );
  }
  const path = given[0] ?? '';
  if (path === '-' && (apiKeyFile === '-' || tokenFrom === '-')) {
    throw new VoicectlError('usage', 'Standard input cannot be the audio and a key or token at once');
  }
  const name = path === '-' ? 'standard input' : path;
  const source = await open();
  if (loop && !source.repeatable) {
    throw new VoicectlError('usage', `--loop needs a file that can be read again, and ${name} cannot`);
  }
  return { source, name };

  async function open(): Promise<AudioSource> {
    if (replay !== undefined) {
      const { openReplaySource } = await import('../recording/replay-source.ts');
      return openReplaySource(replay);
    }
    if (file === undefined)
      return path === '-' ? openRawStream(io.stdin, { signal }) : openRawFile(path, { signal });
    const options = { strictFormat, signal };
    return path === '-' ? openWavStream(io.stdin, options) : openWavFile(path, options);
  }
}

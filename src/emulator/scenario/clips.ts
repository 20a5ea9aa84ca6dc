import { loadPcm } from '../../audio/wav/wav-source.ts';
import { findShippedSound } from '../../files/shipped-file.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { bytesForMs } from '../../protocol/audio-format.ts';
import { makeTone } from '../replies/tone.ts';
import type { ScenarioPart, SpeechAction } from './scenario-schema.ts';

/** The audio of a scenario, ready to send. */
export type Clips = ReadonlyMap<string | SpeechAction, Buffer>;

/**
 * Reads or makes all audio of these steps. Throws `bad-input` for a file that is no WAV; `details.path`
 * names the step.
 */
export async function prepareClips({ steps }: Pick<ScenarioPart, 'steps'>, folder: string): Promise<Clips> {
  const speeches = steps.flatMap((step, at) =>
    step.do.flatMap(({ say }, index) =>
      say === undefined ? [] : [{ say, path: ['steps', at, 'do', index, 'say'] }],
    ),
  );
  const clips = new Map<string | SpeechAction, Buffer>();
  for (const { say, path } of speeches) {
    const pcm = await prepare(say, folder).catch((cause) => {
      throw new VoicectlError('bad-input', (cause as Error).message, { cause, details: { path } });
    });
    if (pcm !== undefined) clips.set(say, pcm);
  }
  return clips;
}

async function prepare(say: string | SpeechAction, folder: string): Promise<Buffer | undefined> {
  if (typeof say === 'string') return loadPcm(await findShippedSound(say, folder));
  const { file, tone, silence } = say;
  if (file !== undefined) return loadPcm(await findShippedSound(file, folder));
  if (tone !== undefined) return makeTone(tone, say.for);
  return silence === undefined ? undefined : Buffer.alloc(bytesForMs(silence));
}

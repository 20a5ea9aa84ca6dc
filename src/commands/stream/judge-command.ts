import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wireFormat } from '../../audio/source.ts';
import { makeWavHeader } from '../../audio/wav/wav-header.ts';
import { shortText } from '../../kernel/short-text.ts';
import type { Judge } from '../../session/conversation/conversation-plan.ts';
import { runFileCommand } from './file-command.ts';

export interface JudgeOptions {
  /** The folder of the conversation file: the command runs there, and a program named with a path is found from there. */
  folder: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Default 30 s. */
  withinMs?: number | undefined;
}

const defaultWithinMs = 30_000;
const placeholder = '{wav}';

/**
 * A command as the judge of a reply: it gets the reply as WAV, and accepts it by exiting with 0. There is no shell, so
 * arguments stay what they are. The command sees no `VOICECTL_` variable, because these may hold keys.
 */
export function createJudge(command: readonly string[], options: JudgeOptions): Judge {
  const { folder, env, withinMs = defaultWithinMs } = options;
  return {
    text: shortText(command.join(' ')),
    async run(reply, signal) {
      const wav = Buffer.concat([makeWavHeader(wireFormat, reply.length), reply]);
      const needsFile = command.some((word) => word.includes(placeholder));
      let place: string | undefined;
      try {
        if (needsFile) place = await mkdtemp(join(tmpdir(), 'voicectl-judge-'));
        const file = place && join(place, 'reply.wav');
        if (file !== undefined) await writeFile(file, wav, { mode: 0o600 });
        const words = command.map((word) => (file === undefined ? word : word.replaceAll(placeholder, file)));
        return await runFileCommand(words, {
          folder,
          env,
          withinMs,
          signal,
          input: needsFile ? undefined : wav,
        });
      } catch (thrown) {
        return {
          ok: false,
          says: `the reply could not be written to a temporary file: ${(thrown as Error).message}`,
        };
      } finally {
        if (place !== undefined) await rm(place, { recursive: true, force: true });
      }
    },
  };
}

import { readText } from '../../files/read-text.ts';
import type { CommandContext } from '../command.ts';

/** The secret of the control API: from the file, else from VOICECTL_CONTROL_SECRET; else undefined. */
export async function readControlSecret({
  settings,
  io,
  signal,
}: Pick<CommandContext<'controlSecretFile'>, 'settings' | 'io' | 'signal'>): Promise<string | undefined> {
  const file = settings.controlSecretFile;
  const text =
    file === undefined ? io.env.VOICECTL_CONTROL_SECRET : await readText(file, { stdin: io.stdin, signal });
  return text?.trim() || undefined;
}

import { checkSecret, warnOfShortSecret } from '../../config/secret-size.ts';
import { readText } from '../../files/read-text.ts';
import type { CommandContext } from '../command.ts';

/** The secret of the control API: from the file, else from VOICECTL_CONTROL_SECRET; else undefined. */
export async function readControlSecret({
  settings,
  io,
  signal,
  warn,
}: Pick<CommandContext<'controlSecretFile'>, 'settings' | 'io' | 'signal' | 'warn'>): Promise<
  string | undefined
> {
  const file = settings.controlSecretFile;
  const text =
    file === undefined ? io.env.VOICECTL_CONTROL_SECRET : await readText(file, { stdin: io.stdin, signal });
  const secret = checkSecret(text?.trim() ?? '', 'The secret of the control API');
  await warnOfShortSecret(secret, 'The secret of the control API', warn);
  return secret === '' ? undefined : secret;
}

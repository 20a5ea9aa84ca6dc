import { checkSecret, warnOfShortSecret } from '../../config/target.ts';
import { readText } from '../../files/read-text.ts';
import { nameOf } from '../../files/refusal.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import type { CommandContext } from '../command.ts';

type SecretContext = Pick<
  CommandContext<'controlSecretFile'>,
  'settings' | 'origin' | 'io' | 'stdin' | 'signal' | 'warn'
>;

/**
 * The secret of the control API, from the stronger of the file and VOICECTL_CONTROL_SECRET; undefined without either.
 * Throws `bad-input` for an empty file.
 */
export async function readControlSecret(context: SecretContext): Promise<string | undefined> {
  const { settings, origin, io } = context;
  const { controlSecretFile: file } = settings;
  const isFileStronger = origin('controlSecretFile') === 'flag' || secretInEnvironment(io) === '';
  if (file === undefined || !isFileStronger) return readEnvironmentSecret(context);
  const secret = (await readText(file, context)).trim();
  if (secret === '') throw new VoicectlError('bad-input', `There is no secret in ${nameOf(file)}`);
  return check(secret, context);
}

/** The secret of the control API in VOICECTL_CONTROL_SECRET; undefined if there is none. */
export async function readEnvironmentSecret(
  context: Pick<SecretContext, 'io' | 'warn'>,
): Promise<string | undefined> {
  const secret = secretInEnvironment(context.io);
  return secret === '' ? undefined : check(secret, context);
}

function secretInEnvironment({ env }: SecretContext['io']): string {
  return env.VOICECTL_CONTROL_SECRET?.trim() ?? '';
}

async function check(secret: string, { warn }: Pick<SecretContext, 'warn'>): Promise<string> {
  const checked = checkSecret(secret, 'The secret of the control API');
  await warnOfShortSecret(checked, 'The secret of the control API', warn);
  return checked;
}

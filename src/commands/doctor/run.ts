import { VoicectlError } from '../../kernel/errors.ts';
import { jsonLines } from '../../kernel/escape.ts';
import { version } from '../../kernel/version.ts';
import { type Check, doctorLines } from '../../report/doctor-lines.ts';
import { checkAudio, checkNode, checkTarget, type DoctorContext } from './checks.ts';

export async function run(context: DoctorContext): Promise<number> {
  const { io, json, style, signal } = context;
  const checks: Check[] = [];
  const tell = async (...found: Check[]) => {
    signal.throwIfAborted();
    checks.push(...found);
    // Write each line at once: some backends take seconds to fail.
    if (!json) await io.stdout.write(`${doctorLines(found, style).join('\n')}\n`);
  };
  await tell(checkNode());
  const target = await checkTarget(context);
  await tell(...target);
  for await (const check of checkAudio(context)) await tell(check);
  signal.throwIfAborted();
  const broken = checks.filter(({ state }) => state === 'broken');
  if (json) await io.stdout.write(jsonLines({ version, ok: broken.length === 0, checks }));
  if (broken.length === 0) return 0;
  // The lines already name the failure. Only the exit code is left.
  return new VoicectlError(target.find(({ code }) => code !== undefined)?.code ?? 'usage', '').exitCode;
}

import { VoicectlError } from '../../kernel/errors.ts';
import { jsonLines } from '../../kernel/escape.ts';
import { version } from '../../kernel/version.ts';
import { doctorLines } from '../../report/doctor-lines.ts';
import { checkAudio, checkNode, checkTarget, type DoctorContext } from './checks.ts';

export async function run(context: DoctorContext): Promise<number> {
  const { io, json, style, note, signal } = context;
  if (io.stderr.isTTY) await note('Probing audio backends…');
  const [audio, target] = await Promise.all([checkAudio(context), checkTarget(context)]);
  signal.throwIfAborted();
  const checks = [checkNode(), ...target, ...audio];
  const broken = checks.filter(({ state }) => state === 'broken');
  await io.stdout.write(
    json
      ? jsonLines({ version, ok: broken.length === 0, checks })
      : `${doctorLines(checks, style).join('\n')}\n`,
  );
  if (broken.length === 0) return 0;
  // The lines name the failure already; the exit code is that of the failure.
  return new VoicectlError(target.find(({ code }) => code !== undefined)?.code ?? 'usage', '').exitCode;
}

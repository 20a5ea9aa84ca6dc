import { doctorOptions } from '../../config/options.ts';
import { defineCommand } from '../command.ts';

export const doctorCommand = defineCommand({
  name: 'doctor',
  summary: 'check what this machine can do, and say how to mend what it cannot',
  options: doctorOptions,
  examples: ['voicectl doctor', 'voicectl doctor --base-url https://voice.example --json'],
  async run(context) {
    const { io, json, style, note, signal } = context;
    const { checkAudio, checkNode, checkTarget } = await import('./checks.ts');
    const { doctorLines } = await import('../../report/doctor-lines.ts');
    const { jsonLines } = await import('../../kernel/escape.ts');
    const { version } = await import('../../kernel/version.ts');
    const { VoicectlError } = await import('../../kernel/errors.ts');

    if (io.stderr.isTTY) await note('Trying every way to sound: some seconds');
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
    // Already said; the exit code is that of the failure.
    return new VoicectlError(target.find(({ code }) => code !== undefined)?.code ?? 'usage', '').exitCode;
  },
});

import { type connectionOptions, flagOf } from '../../config/options.ts';
import { defaultDevice, developmentKey, resolveTarget, type Target } from '../../config/target.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import type { CommandContext } from '../command.ts';

/**
 * Where `token` and `stream` connect: the configured target, or with `--local` an emulator inside this
 * process, which `close` ends.
 */
export async function openTarget(
  context: CommandContext<(typeof connectionOptions)[number]>,
  { reply, needsKey = true }: { reply?: string; needsKey?: boolean } = {},
): Promise<Target & { close(): Promise<void> }> {
  if (!context.settings.local) {
    const target = await resolveTarget(context, {
      stdin: context.io.stdin,
      signal: context.signal,
      needsKey,
    });
    return { ...target, close: async () => {} };
  }
  const elsewhere = (['baseUrl', 'wsUrl'] as const).find((name) => context.origin(name) === 'flag');
  if (elsewhere !== undefined) {
    throw new VoicectlError('usage', `${flagOf(elsewhere)} and --local name two services`);
  }
  const device = context.settings.device ?? defaultDevice();
  const { createEmulator } = await import('../../emulator/emulator.ts');
  const { baseUrl, wsUrl, close } = await createEmulator({
    clock: context.io.clock,
    ...(reply === undefined ? {} : { reply }),
  });
  return { baseUrl, wsUrl, device, apiKey: developmentKey, ca: undefined, close };
}

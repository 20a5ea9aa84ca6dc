import type { connectionOptions } from '../config/options.ts';
import type { Target } from '../config/target.ts';
import type { CommandContext } from './command.ts';

/**
 * Where `token` and `stream` connect: the configured target, or with `--local` an emulator inside this
 * process, which `close` ends.
 */
export async function openTarget(
  context: CommandContext<(typeof connectionOptions)[number]>,
  reply?: string,
): Promise<Target & { close(): Promise<void> }> {
  const { resolveTarget, developmentKey, defaultDevice } = await import('../config/target.ts');
  if (!context.settings.local)
    return { ...(await resolveTarget(context, context.io.stdin)), close: async () => {} };
  const { createEmulator } = await import('../emulator/emulator.ts');
  const { baseUrl, wsUrl, close } = await createEmulator(reply === undefined ? {} : { reply });
  return {
    baseUrl,
    wsUrl,
    device: context.settings.device ?? defaultDevice(),
    apiKey: developmentKey,
    close,
  };
}

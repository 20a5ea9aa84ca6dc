import { flagOf } from '../../config/options.ts';
import {
  defaultDevice,
  developmentKey,
  resolveTarget,
  type Target,
  type TargetOption,
} from '../../config/target.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import type { DialectInput } from '../../protocol/dialect.ts';
import type { CommandContext } from '../command.ts';

/**
 * Where a command connects: the configured target, or with `--local` an emulator inside this
 * process, which `close` ends.
 */
export async function openTarget(
  context: CommandContext<TargetOption>,
  { needsKey = true, ...options }: { reply?: string; dialect?: DialectInput; needsKey?: boolean } = {},
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
  const { baseUrl, wsUrl, close } = await createEmulator({ clock: context.io.clock, ...options });
  return { baseUrl, wsUrl, device, apiKey: developmentKey, ca: undefined, close };
}

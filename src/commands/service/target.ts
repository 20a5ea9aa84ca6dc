import {
  defaultDevice,
  resolveTarget,
  type Target,
  type TargetOption,
  warnOfShortSecret,
} from '../../config/target.ts';
import { developmentKey } from '../../protocol/token-request.ts';
import type { CommandContext } from '../command.ts';
import type { LocalContext } from './emulator-settings.ts';

type ConnectionContext = CommandContext<TargetOption> & LocalContext;

/**
 * Where a command connects: the configured target, or with `--local` an emulator inside this
 * process, which `close` ends.
 */
export async function openTarget(
  context: ConnectionContext,
  { needsKey = true }: { needsKey?: boolean } = {},
): Promise<Target & { close(): Promise<void> }> {
  if (context.settings.local) return openLocal(context);
  const { stdin, signal, awaits } = context;
  const target = await resolveTarget(context, { stdin, signal, awaits, needsKey });
  await warnOfShortSecret(target.apiKey, 'The API key', context.warn);
  return { ...target, close: async () => {} };
}

async function openLocal(context: ConnectionContext): Promise<Target & { close(): Promise<void> }> {
  const device = context.settings.device ?? defaultDevice();
  const { createEmulator } = await import('../../emulator/emulator.ts');
  const { localSettings } = await import('./emulator-settings.ts');
  const { baseUrl, wsUrl, close } = await createEmulator(await localSettings(context));
  return { baseUrl, wsUrl, device, apiKey: developmentKey, ca: undefined, caFile: undefined, close };
}

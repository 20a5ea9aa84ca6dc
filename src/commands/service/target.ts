import { flagOf, localOptions, type OptionName } from '../../config/options.ts';
import {
  defaultDevice,
  developmentKey,
  resolveTarget,
  type Target,
  type TargetOption,
} from '../../config/target.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import type { CommandContext } from '../command.ts';
import type { LocalContext } from './emulator-settings.ts';

type ConnectionContext = CommandContext<TargetOption> & LocalContext;

/**
 * Where a command connects: the configured target, or with `--local` an emulator inside this
 * process, which `close` ends. Throws `usage` for a flag of the emulator without `--local`.
 */
export async function openTarget(
  context: ConnectionContext,
  { needsKey = true }: { needsKey?: boolean } = {},
): Promise<Target & { close(): Promise<void> }> {
  if (context.settings.local) return openLocal(context);
  requireLocal(context);
  const { io, signal } = context;
  const target = await resolveTarget(context, { stdin: io.stdin, signal, needsKey });
  return { ...target, close: async () => {} };
}

async function openLocal(context: ConnectionContext): Promise<Target & { close(): Promise<void> }> {
  const elsewhere = (['baseUrl', 'wsUrl'] as const).find((name) => context.origin(name) === 'flag');
  if (elsewhere !== undefined) {
    throw new VoicectlError('usage', `${flagOf(elsewhere)} cannot be combined with --local`);
  }
  const device = context.settings.device ?? defaultDevice();
  const { createEmulator } = await import('../../emulator/emulator.ts');
  const { localSettings } = await import('./emulator-settings.ts');
  const options = { clock: context.io.clock, ...(await localSettings(context)) };
  const { baseUrl, wsUrl, close } = await createEmulator(options);
  return { baseUrl, wsUrl, device, apiKey: developmentKey, ca: undefined, close };
}

/** Throws `usage` for a flag of the emulator if no emulator is started. */
function requireLocal({ origin }: ConnectionContext): void {
  const needless = localOptions.find((name) => (origin as (name: OptionName) => unknown)(name) === 'flag');
  if (needless === undefined) return;
  throw new VoicectlError('usage', `${flagOf(needless)} is for the emulator of --local`, {
    hint: 'Add --local, or remove the flag.',
  });
}

import { randomBytes } from 'node:crypto';
import type { ServedEmulator } from '../../cluster/processes/messages.ts';
import type { Settings } from '../../config/options.ts';
import { createEmulator } from '../../emulator/emulator.ts';
import type { EmulatorOptions } from '../../emulator/options.ts';

/** Starts the emulator, alone or as one of several, and says with which secret it is controlled. */
export async function openEmulator(
  { shared, sharedPrefix }: Settings<'shared' | 'sharedPrefix'>,
  options: EmulatorOptions,
): Promise<{ emulator: ServedEmulator; controlSecret: string }> {
  if (shared === undefined) {
    const controlSecret = options.controlSecret ?? randomBytes(24).toString('base64url');
    return { emulator: await createEmulator({ ...options, controlSecret }), controlSecret };
  }
  const { createSharedEmulator } = await import('../../cluster/shared-emulator.ts');
  const { controlSecret, ...known } = options;
  const emulator = await createSharedEmulator(controlSecret === undefined ? known : options, {
    url: shared,
    prefix: sharedPrefix,
  });
  return { emulator, controlSecret: emulator.controlSecret };
}

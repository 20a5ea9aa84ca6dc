import type { Subject } from '../../conformance/asker.ts';
import { openTarget } from '../service/target.ts';
import type { ConformanceContext } from './context.ts';

export interface OpenSubject extends Subject {
  devices: readonly [string, ...string[]];
  close(): Promise<void>;
}

/** The service that is asked, and the devices that speak for it. With `--local` an emulator, which `close` ends. */
export async function openSubject(context: ConformanceContext): Promise<OpenSubject> {
  const { settings } = context;
  const [first, ...others] = settings.devices;
  const target = await openTarget({
    ...context,
    settings: { ...settings, device: first },
    origin: (name) => context.origin(name === 'device' ? 'devices' : name),
  });
  return { ...target, devices: [target.device, ...others] };
}

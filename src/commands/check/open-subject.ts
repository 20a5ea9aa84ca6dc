import type { Subject } from '../../conformance/asker.ts';
import { readText } from '../../files/read-text.ts';
import { openTarget } from '../service/target.ts';
import type { CheckContext } from './context.ts';

export interface OpenSubject extends Subject {
  devices: readonly [string, ...string[]];
  close(): Promise<void>;
}

/** The service that is checked, and the devices that speak for it. With `--local` an emulator, which `close` ends. */
export async function openSubject(context: CheckContext): Promise<OpenSubject> {
  const { settings, io, signal } = context;
  const [first, ...others] = settings.devices;
  const dialect = await readDialectFile(settings, { stdin: io.stdin, signal });
  const target = await openTarget(
    {
      ...context,
      settings: { ...settings, device: first },
      origin: (name) => context.origin(name === 'device' ? 'devices' : name),
    },
    dialect === undefined ? {} : { dialect },
  );
  return { ...target, devices: [target.device, ...others] };
}

async function readDialectFile(
  { dialect, local }: CheckContext['settings'],
  input: Parameters<typeof readText>[1],
) {
  if (dialect === undefined || !local) return undefined;
  const { readDialect } = await import('../../config/dialect-file.ts');
  return readDialect(await readText(dialect, input), dialect);
}

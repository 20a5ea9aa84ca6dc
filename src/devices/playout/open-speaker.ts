import type { Backend } from '../backend.ts';
import type { DeviceProcess } from '../process/device-process.ts';
import { startDeviceProcess } from '../process/device-process.ts';
import { type DeviceOptions, openProcess, whileOpening } from '../process/open-process.ts';
import { openHosted } from './hosted-speaker.ts';
import { openProgram } from './program-speaker.ts';
import type { Speaker } from './speaker.ts';

/** Opens a loudspeaker. Throws `audio-device` with the reason as message. */
export async function openSpeaker(backend: Backend, options: DeviceOptions): Promise<Speaker> {
  const child = await openProcess(backend, 'playback', options);
  return whileOpening(child, options.signal, async () => {
    if (backend.kind === 'native') return openHosted(backend, child, options.clock);
    const speaker = await openProgram(backend, child, options.clock);
    if (backend.witness !== undefined) watchServer(child, backend.witness, options);
    return speaker;
  });
}

/** If there is a server, the witness runs at least this long. */
const witnessMs = 1_000;

/** Ends a program when its sound server ends. If the witness cannot run, nothing is watched. */
function watchServer(
  child: DeviceProcess,
  { command, args }: { command: string; args: readonly string[] },
  { clock, search: { env } }: DeviceOptions,
): void {
  const startedAt = clock.now();
  const witness = startDeviceProcess({ command, args, env, pcm: 'stdout' }, clock);
  void child.ended.then(() => witness.stop());
  void witness.ended.then(() => {
    if (clock.now() - startedAt >= witnessMs) void child.stop();
  });
}

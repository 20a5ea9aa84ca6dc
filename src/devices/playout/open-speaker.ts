import type { Backend } from '../backends/backend.ts';
import { type DeviceOptions, openProcess, whileOpening } from '../process/open-process.ts';
import { openHosted } from './hosted-speaker.ts';
import { openProgram } from './program-speaker.ts';
import type { Speaker } from './speaker.ts';

/** Opens a loudspeaker. Throws `audio-device`, with the reason as the message. */
export async function openSpeaker(backend: Backend, options: DeviceOptions): Promise<Speaker> {
  const child = await openProcess(backend, 'playback', options);
  return whileOpening(child, options.signal, () =>
    backend.kind === 'native'
      ? openHosted(backend, child, options.clock)
      : openProgram(backend, child, options.clock),
  );
}

import { toVoicectlError } from '../kernel/errors.ts';
import { bytesForMs } from '../protocol/audio-format.ts';
import { backends, type Role } from './backend.ts';
import { openCapture } from './capture.ts';
import { type Candidate, findBackends } from './find-backends.ts';
import { openSpeaker } from './playout/open-speaker.ts';
import { type Speaker, speakerFrameMs } from './playout/speaker.ts';
import type { DeviceOptions } from './process/open-process.ts';

/** What a backend can do on this machine with the default devices. */
export interface Probe {
  readonly name: string;
  readonly install: string;
  /** Why it cannot capture or play. Undefined if it can. */
  readonly capture: string | undefined;
  readonly playback: string | undefined;
}

/**
 * Tries all backends one after the other, because some devices accept only one program. Throws the signal's reason.
 */
export async function* probeBackends(options: Omit<DeviceOptions, 'device'>): AsyncGenerator<Probe> {
  const [capture, playback] = await Promise.all([
    findBackends('capture', undefined, options.search),
    findBackends('playback', undefined, options.search),
  ]);
  const named = (candidates: readonly Candidate[], name: string) =>
    candidates.find(({ backend }) => backend.name === name);
  for (const { name, install } of backends) {
    const found = await Promise.all([
      probe('capture', named(capture, name), options),
      probe('playback', named(playback, name), options),
    ]);
    options.signal?.throwIfAborted();
    yield { name, install, capture: found[0], playback: found[1] };
  }
}

/** Some programs fail only a moment after they were opened, or with the first audio. */
const playMs = 1_000;

/** Plays silence, and ends the loudspeaker. Throws `audio-device` if it is lost in the meantime. */
async function playSilence(speaker: Speaker, signal: AbortSignal | undefined): Promise<void> {
  const silence = Buffer.alloc(bytesForMs(speakerFrameMs));
  try {
    for (let ms = 0; ms < playMs; ms += speakerFrameMs) {
      signal?.throwIfAborted();
      await speaker.ready();
      speaker.write(silence);
    }
  } finally {
    await speaker.stop();
  }
}

async function probe(
  role: Role,
  candidate: Candidate | undefined,
  common: Omit<DeviceOptions, 'device'>,
): Promise<string | undefined> {
  if (candidate === undefined || candidate.reason !== undefined) return candidate?.reason;
  const options = { ...common, device: undefined };
  try {
    if (role === 'playback') await playSilence(await openSpeaker(candidate.backend, options), common.signal);
    else await (await openCapture(candidate.backend, { ...options, onOverrun: () => {} })).stop();
    return undefined;
  } catch (thrown) {
    return toVoicectlError(thrown).message;
  }
}

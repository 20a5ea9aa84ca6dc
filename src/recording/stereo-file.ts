import { createWavFile } from '../audio/wav/wav-file.ts';
import type { Clock } from '../kernel/clock.ts';
import { toVoicectlError, type VoicectlError } from '../kernel/errors.ts';
import { bytesForMs } from '../protocol/audio-format.ts';
import type { SessionEvent } from '../session/events.ts';
import type { Recorder } from './recorder.ts';
import { createStereo, type StereoPart } from './stereo.ts';
import { writeParts } from './write-parts.ts';

/** Most audio that waits for the disk before the session has to wait. */
const maxWaitingBytes = bytesForMs(60_000);

export interface StereoFileOptions {
  path: string;
  clock: Clock;
  /** Abort it to stop waiting for a reader of a pipe. */
  giveUp: AbortSignal;
}

/**
 * Records both voices of a session into one WAV on the time axis of the session: the client left, the AI right.
 * Throws `input-output` if the file cannot be created.
 */
export async function createStereoFile({
  path,
  clock,
  giveUp,
}: StereoFileOptions): Promise<Pick<Recorder, 'tap' | 'sink' | 'watch'>> {
  const file = await createWavFile(path, { channels: 2, giveUp });
  const stereo = createStereo();
  let origin = clock.now();
  let waitingBytes = 0;
  let failure: VoicectlError | undefined;
  let written: Promise<void> = Promise.resolve();
  const write = (parts: StereoPart[], bytes: number) => {
    waitingBytes += bytes;
    written = written
      .then(() => (failure === undefined ? writeParts(file, parts) : undefined))
      .catch((thrown) => {
        failure ??= toVoicectlError(thrown);
      })
      .then(() => {
        waitingBytes -= bytes;
      });
  };
  const taken = async () => {
    if (waitingBytes > maxWaitingBytes) await written;
    if (failure !== undefined) throw failure;
  };
  return {
    tap: {
      message(message) {
        if (!('data' in message)) return;
        const direction = message.from === 'device' ? 'out' : 'in';
        write(stereo.add(direction, message.at - origin, message.data), message.data.length);
      },
      ready: () => (waitingBytes > maxWaitingBytes ? written : undefined),
    },
    sink: {
      write: taken,
      async close() {
        await written;
        if (failure !== undefined) throw failure;
      },
    },
    async *watch(events: AsyncIterable<SessionEvent>) {
      origin = clock.now();
      try {
        yield* events;
      } finally {
        write(stereo.end(clock.now() - origin), 0);
        await written;
        await file.close();
      }
    },
  };
}

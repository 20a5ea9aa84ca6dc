import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWavFile } from '../audio/wav/wav-file.ts';
import { writeFailure } from '../files/refusal.ts';
import type { Clock } from '../kernel/clock.ts';
import { roundMs } from '../protocol/time-text.ts';
import { createDiskQueue } from './disk-queue.ts';
import { type Recorder, watchInterruptions } from './recorder.ts';
import { createVoiceFiles, type VoiceFiles } from './voice-files.ts';

export interface StereoFileOptions {
  path: string;
  clock: Clock;
  /** Abort it to stop waiting for a reader of a pipe. */
  giveUp: AbortSignal;
}

/**
 * Records both voices of a session into one WAV on the time axis of the session, as a listener heard them: the user left,
 * the AI right. Each waits for the other in a temporary file. Throws `input-output` if a file cannot be created.
 */
export async function createStereoFile({
  path,
  clock,
  giveUp,
}: StereoFileOptions): Promise<Pick<Recorder, 'tap' | 'sink' | 'watch'>> {
  const voices = await openVoices(path, giveUp);
  const interrupts = watchInterruptions();
  let origin = clock.now();
  const queue = createDiskQueue(voices.write, (thrown) => writeFailure(path, thrown));
  return {
    tap: {
      began(at) {
        origin = at;
      },
      message(message) {
        if (interrupts(message)) voices.interrupted(roundMs(message.at - origin));
        if (!('data' in message) || queue.hasFailed) return;
        const direction = message.from === 'device' ? 'out' : 'in';
        voices.add(direction, roundMs(message.at - origin), message.data);
        queue.added(message.data.length);
      },
      ready: queue.taken,
    },
    sink: { write: queue.taken, close: queue.settled, failed: queue.failed },
    async *watch(events) {
      origin = clock.now();
      try {
        yield* events;
      } finally {
        voices.end(clock.now() - origin);
        queue.added(1);
        await queue.settled().catch(() => {});
        await voices.close();
      }
    },
  };
}

async function openVoices(path: string, giveUp: AbortSignal): Promise<VoiceFiles> {
  const both = await createWavFile(path, { channels: 2, giveUp });
  const under = join(tmpdir(), 'voicectl-both-');
  let folder: string | undefined;
  const remove = async () => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  };
  try {
    const made = await mkdtemp(under).catch((thrown) => {
      throw writeFailure(under, thrown);
    });
    folder = made;
    const waiting = (name: string) => createWavFile(join(made, name), { isPrivate: true });
    const voices = createVoiceFiles({ both, out: await waiting('out.wav'), in: await waiting('in.wav') });
    return { ...voices, close: () => voices.close().finally(remove) };
  } catch (thrown) {
    await both.close();
    await remove();
    throw thrown;
  }
}

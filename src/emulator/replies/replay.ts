import type { ClockTimer } from '../../kernel/clock.ts';
import { isServiceText } from '../../recording/format.ts';
import { type Recording, readRecording } from '../../recording/read-recording.ts';
import { pcmOf, replayOrigin } from '../../recording/replay.ts';
import type { CreateReply, ReplyMode, Voice } from './reply.ts';

interface Step {
  /** Time after the confirmation; negative before it. */
  atMs: number;
  act(voice: Voice): void;
}

/**
 * Repeats what the service sent in a recording, regardless of the user: each message unchanged and at its time,
 * counted from the confirmation and divided by `speed`, and the close if the service closed. Throws
 * `bad-input` if the file is not a recording or has no stream.
 */
export async function replayRecording(folder: string, speed: number): Promise<ReplyMode> {
  const steps = listSteps(await readRecording(folder));
  const createReply: CreateReply = (voice) => {
    const startedAt = voice.clock.now();
    let next = 0;
    let timer: ClockTimer | undefined;
    const dueAt = (step: Step) => startedAt + step.atMs / speed;
    const run = () => {
      for (let step = steps[next]; step !== undefined; step = steps[next]) {
        const waitMs = dueAt(step) - voice.clock.now();
        if (waitMs > 0) {
          timer = voice.clock.after(waitMs, run);
          return;
        }
        next += 1;
        step.act(voice);
      }
    };
    run();
    return {
      hear() {},
      close() {
        next = steps.length;
        timer?.cancel();
      },
    };
  };
  return Object.assign(createReply, { confirms: () => true });
}

/** What the service did, in order. */
function listSteps(recording: Recording): Step[] {
  const origin = replayOrigin(recording);
  return recording.wire.flatMap((line): Step[] => {
    const atMs = line.t - origin;
    if (isServiceText(line)) return [{ atMs, act: (voice) => voice.text(line.text) }];
    if (line.type === 'audio' && line.direction === 'in') {
      const pcm = pcmOf(recording, line);
      return [{ atMs, act: (voice) => voice.send(pcm) }];
    }
    // A close by the device is not repeated.
    if (line.type !== 'close' || line.by === 'client') return [];
    return [{ atMs, act: (voice) => voice.close(line.code, line.reason) }];
  });
}

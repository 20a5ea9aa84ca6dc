import { mapSamples } from '../../audio/encode.ts';
import { gainOf } from '../../audio/level.ts';
import type { Clock, ClockTimer } from '../../kernel/clock.ts';
import { queueCostBytes } from '../../kernel/queue-cost.ts';
import { bytesPerSample } from '../../protocol/audio-format.ts';
import type { EchoFault } from './turn-faults.ts';

/** Sends the words of the user back to them, late and quiet. */
export interface UserEcho {
  /** Takes what the user says in a turn that is echoed. */
  hear(pcm: Buffer, fault: EchoFault): void;
  /** Adds what is due to a message of the AI. */
  mix(pcm: Buffer): Buffer;
  close(): void;
}

export interface UserEchoOptions {
  clock: Clock;
  out: { send(pcm: Buffer): void };
  /** Whether the AI speaks: then the echo is in its messages. */
  isSpeaking(): boolean;
}

/** While the AI speaks, its messages carry the echo. */
const stepMs = 20;
/** Maximum audio that waits: half a minute. */
const mostWaitingBytes = 1024 * 1024;

export function createUserEcho({ clock, out, isSpeaking }: UserEchoOptions): UserEcho {
  const waiting: { pcm: Buffer; dueAt: number }[] = [];
  let waitingBytes = 0;
  let timer: ClockTimer | undefined;

  const arm = () => {
    const [next] = waiting;
    if (next !== undefined) timer ??= clock.after(next.dueAt - clock.now(), release);
  };
  /** Takes at most this many bytes of the oldest message; the rest of it stays. */
  const dequeue = (most: number): Buffer => {
    const oldest = waiting[0] as { pcm: Buffer; dueAt: number };
    const { pcm } = oldest;
    waitingBytes -= queueCostBytes(pcm.length);
    if (pcm.length <= most) waiting.shift();
    else {
      oldest.pcm = pcm.subarray(most);
      waitingBytes += queueCostBytes(pcm.length - most);
    }
    return pcm.subarray(0, Math.min(most, pcm.length));
  };
  const release = () => {
    timer = undefined;
    while (waiting[0] !== undefined && waiting[0].dueAt <= clock.now()) {
      if (isSpeaking()) {
        timer = clock.after(stepMs, release);
        return;
      }
      out.send(dequeue(Number.POSITIVE_INFINITY));
    }
    arm();
  };
  return {
    hear(pcm, { db, delay }) {
      if (waitingBytes + queueCostBytes(pcm.length) > mostWaitingBytes) return;
      waitingBytes += queueCostBytes(pcm.length);
      const gain = gainOf(db);
      waiting.push({ pcm: mapSamples(pcm, (sample) => sample * gain), dueAt: clock.now() + delay });
      arm();
    },
    mix(pcm) {
      const now = clock.now();
      const due: Buffer[] = [];
      let room = pcm.length & ~1;
      while (room > 0 && waiting[0] !== undefined && waiting[0].dueAt <= now) {
        const part = dequeue(room);
        due.push(part);
        room -= part.length;
      }
      arm();
      return due.length === 0 ? pcm : add(pcm, Buffer.concat(due));
    },
    close() {
      timer?.cancel();
      waiting.length = 0;
      waitingBytes = 0;
    },
  };
}

function add(pcm: Buffer, other: Buffer): Buffer {
  return mapSamples(pcm, (sample, index) => {
    const at = index * bytesPerSample;
    return sample + (at + 1 < other.length ? other.readInt16LE(at) : 0);
  });
}

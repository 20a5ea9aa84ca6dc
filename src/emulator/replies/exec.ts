import { startCommand } from '../../kernel/command-process.ts';
import { bytesForMs, bytesPerSample } from '../../protocol/audio-format.ts';
import type { Playable } from '../../service/streams/playable.ts';
import type { CreateReply } from './reply.ts';

/** Maximum audio that waits for a command that does not read. Later audio is dropped. */
const maxUnheardBytes = bytesForMs(10_000);
/** Maximum audio that a command may write ahead of time. Reading stops until half of it is sent. */
const maxUnsaidBytes = bytesForMs(10_000);
const maxErrorText = 500;

/**
 * A command as the AI: the user's PCM on its standard input, its own PCM from its standard output, said at
 * real-time pace. Each stream has its own process, run by the shell. When one fails, its stream gets an error
 * message with the end of its standard error, and continues without a reply.
 */
export function replyByCommand(command: string): CreateReply {
  return (voice) => {
    const running = startCommand(command, [], { shell: true, stdio: ['pipe', 'pipe', 'pipe'] });
    const { stdin, stdout, stderr } = running.child;
    // When descriptors run out, a child has no streams; an `error` event with the reason follows.
    if (!stdin || !stdout || !stderr) {
      running.started.catch(({ message }) => voice.fail(`The reply command did not start: ${message}`));
      return { hear() {} };
    }
    const waiting = createPcmQueue();
    let errorText = '';
    let isOver = false;

    const playing = {
      read(bytes: number) {
        if (waiting.bytes <= maxUnsaidBytes / 2) stdout.resume();
        return waiting.read(bytes);
      },
    };
    stdout.on('data', (pcm: Buffer) => {
      if (isOver) return;
      waiting.push(pcm);
      if (waiting.bytes > maxUnsaidBytes) stdout.pause();
      if (!voice.speaking) voice.say(playing);
    });
    stderr.on('data', (text: Buffer) => {
      errorText = (errorText + text.toString()).slice(-maxErrorText);
    });
    running.started.catch(({ message }) => {
      errorText = message;
    });
    running.child.once('close', (code, signal) => {
      if (isOver || code === 0) return;
      const how = code === null ? `was killed by ${signal}` : `exited with code ${code}`;
      voice.fail([`The reply command ${how}`, errorText.trim()].filter((text) => text !== '').join(': '));
    });

    return {
      hear(pcm) {
        if (stdin.writable && stdin.writableLength < maxUnheardBytes) stdin.write(pcm);
      },
      /** What was written while something else was said follows it. */
      said() {
        if (!isOver && waiting.bytes >= bytesPerSample) voice.say(playing);
      },
      close() {
        isOver = true;
        stdin.destroy();
        void running.end();
      },
    };
  };
}

/** A playable of PCM that is still being produced. */
interface PcmQueue extends Playable {
  push(pcm: Buffer): void;
  /** Bytes that are waiting. */
  readonly bytes: number;
}

/** Frames without audio after which the speech counts as ended, not as delayed. */
const patientFrames = 10;

function createPcmQueue(): PcmQueue {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let missed = 0;

  const dequeue = (count: number): Buffer => {
    const [first = Buffer.alloc(0), ...others] = chunks;
    const all = others.length === 0 ? first : Buffer.concat(chunks);
    chunks = [all.subarray(count)];
    bytes -= count;
    return all.subarray(0, count);
  };

  return {
    get bytes() {
      return bytes;
    },
    push(pcm) {
      chunks.push(pcm);
      bytes += pcm.length;
    },
    /** An empty frame while more may come; after `patientFrames` of them the rest, or undefined if there is none. */
    read(wanted) {
      if (bytes >= wanted) {
        missed = 0;
        return dequeue(wanted);
      }
      missed += 1;
      if (missed <= patientFrames) return Buffer.alloc(0);
      missed = 0;
      const rest = bytes - (bytes % bytesPerSample);
      return rest === 0 ? undefined : dequeue(rest);
    },
  };
}

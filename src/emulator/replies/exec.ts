import { type ChildProcess, spawn } from 'node:child_process';
import { bytesForMs } from '../../protocol/audio-format.ts';
import { createPcmQueue } from './pcm-queue.ts';
import type { CreateReply } from './reply.ts';

/** Most audio that waits for a command that does not read. Later audio is dropped. */
const maxUnheardBytes = bytesForMs(10_000);
/** Most audio that a command may write ahead of time. Reading stops until half of it is sent. */
const maxUnsaidBytes = bytesForMs(10_000);
const maxErrorText = 500;
/** How long a command may run after its stream has ended. Then it is killed. */
const graceMs = 1_000;

/**
 * A command as the AI: the user's PCM on its standard input, its own PCM from its standard output, said at
 * real-time pace. Each stream has its own process, run by the shell. When one fails, its stream gets an error
 * message with the end of its standard error, and continues without a reply.
 */
export function runCommand(command: string): CreateReply {
  return (voice) => {
    const child = spawn(command, { shell: true, detached: process.platform !== 'win32' });
    // When descriptors run out, a child has no streams; an `error` event with the reason follows.
    if (child.stdout === undefined) {
      child.once('error', ({ message }) => voice.fail(`The reply command did not start: ${message}`));
      return { hear() {} };
    }
    const said = createPcmQueue();
    let errorText = '';
    let isOver = false;

    const playing = {
      read(bytes: number) {
        if (said.bytes <= maxUnsaidBytes / 2) child.stdout.resume();
        return said.read(bytes);
      },
    };
    child.stdout.on('data', (pcm: Buffer) => {
      if (isOver) return;
      said.push(pcm);
      if (said.bytes > maxUnsaidBytes) child.stdout.pause();
      if (!voice.speaking) voice.say(playing);
    });
    child.stderr.on('data', (text: Buffer) => {
      errorText = (errorText + text.toString()).slice(-maxErrorText);
    });
    // A command may stop reading.
    child.stdin.on('error', () => {});
    child.once('error', ({ message }) => {
      errorText = message;
    });
    child.once('close', (code, signal) => {
      if (isOver || code === 0) return;
      const how = code === null ? `was killed by ${signal}` : `exited with code ${code}`;
      voice.fail([`The reply command ${how}`, errorText.trim()].filter((text) => text !== '').join(': '));
    });

    return {
      hear(pcm) {
        if (child.stdin.writable && child.stdin.writableLength < maxUnheardBytes) child.stdin.write(pcm);
      },
      close() {
        isOver = true;
        child.stdin.destroy();
        endGroup(child, 'SIGTERM');
        const kill = voice.clock.after(graceMs, () => endGroup(child, 'SIGKILL'), { background: true });
        child.once('close', () => kill.cancel());
      },
    };
  };
}

/** Ends the shell and its children. */
function endGroup({ pid, exitCode, signalCode }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {
    // It has already ended.
  }
}

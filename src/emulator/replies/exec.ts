import { type ChildProcess, spawn } from 'node:child_process';
import { bytesForMs } from '../../protocol/audio-format.ts';
import { createPcmQueue } from './pcm-queue.ts';
import type { CreateReply } from './reply.ts';

/** What may wait for a command that does not read; later audio is lost to it. */
const maxUnheardBytes = bytesForMs(10_000);
/** What a command may say ahead of time; then it is not read from until some of it was said. */
const maxUnsaidBytes = bytesForMs(10_000);
const maxErrorText = 500;
/** A command that goes on after its stream has ended, and after it was asked to end, is killed. */
const graceMs = 1_000;

/**
 * A command as the AI: the user's PCM on its standard input, its own PCM from its standard output, said at
 * real-time pace. Each stream has a process of its own, run by the shell; when one fails, its stream is told
 * so with the end of its standard error, and goes on without a reply.
 */
export function runCommand(command: string): CreateReply {
  return (voice) => {
    const child = spawn(command, { shell: true, detached: process.platform !== 'win32' });
    // Where no descriptors are left, a child has no streams, and why is still to come.
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
    // A command that has stopped reading is no reason to end anything.
    child.stdin.on('error', () => {});
    child.once('error', ({ message }) => {
      errorText = message;
    });
    child.once('close', (code, signal) => {
      if (isOver || code === 0) return;
      const how = code === null ? `was ended by ${signal}` : `ended with ${code}`;
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

/** Ends the shell and what it runs. */
function endGroup({ pid, exitCode, signalCode }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}

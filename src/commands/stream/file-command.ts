import { once } from 'node:events';
import { resolve } from 'node:path';
import { systemClock } from '../../kernel/clock.ts';
import { startCommand } from '../../kernel/command-process.ts';
import { cutText, escapeText } from '../../kernel/escape.ts';
import { abortable } from '../../kernel/promises.ts';

/** Longest output of a command that is shown. */
const maxSaid = 500;
/** How long the output may take after the command has ended. */
const lastOutputMs = 100;

export interface FileCommandOptions {
  /** The folder of the conversation file: the command runs there, and a program named with a path is found from there. */
  folder: string;
  env: Readonly<Record<string, string | undefined>>;
  withinMs: number;
  signal: AbortSignal;
  /** For its standard input. */
  input: string | Buffer | undefined;
}

/**
 * Runs a command that a conversation file names, and everything that it starts, to its end. There is no shell, so arguments
 * are passed unchanged. The command sees no `VOICECTL_` variable, because these may hold keys. Never rejects: `says` is what it
 * printed, and how it ended unless that was normal.
 */
export async function runFileCommand(
  [program = '', ...args]: readonly string[],
  { folder, env, withinMs, signal, input }: FileCommandOptions,
): Promise<{ ok: boolean; says: string }> {
  const isPath = /[\\/]/.test(program);
  const running = startCommand(isPath ? resolve(folder, program) : program, args, {
    cwd: folder,
    env: withoutOurs(env),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const { stdin, stdout, stderr } = running.child;
  let said = '';
  for (const stream of [stdout, stderr]) {
    stream?.on('data', (text: Buffer) => {
      if (said.length < maxSaid) said += text.toString();
    });
  }
  const closed = once(running.child, 'close').catch(() => {});
  // A command may not read all of it.
  stdin?.end(input);
  const limit = new AbortController();
  const timer = systemClock.after(withinMs, () => limit.abort());
  const isOver = AbortSignal.any([signal, limit.signal]);
  try {
    await abortable(running.started, isOver);
    const { code, signal: by } = await abortable(running.ended, isOver);
    // No longer: a process that it started may still hold its output open.
    const settled = systemClock.after(lastOutputMs, () => void running.end({ graceMs: 0 }));
    await closed;
    settled.cancel();
    return {
      ok: code === 0,
      says: saidText(said, code === null ? `it was ended by ${by}` : `it exited with ${code}`),
    };
  } catch (thrown) {
    const how = signal.aborted
      ? 'it was interrupted'
      : limit.signal.aborted
        ? `it did not end within ${withinMs} ms`
        : `it cannot run: ${(thrown as Error).message}`;
    return { ok: false, says: saidText(said, how) };
  } finally {
    timer.cancel();
    await running.end({ graceMs: 0 });
  }
}

/** The output of the command on one line, and how it ended unless that was normal. */
function saidText(said: string, how: string): string {
  const text = escapeText(cutText(said, maxSaid).trim().replace(/\s+/g, ' '));
  if (text === '') return how;
  return how === 'it exited with 0' ? text : `${how}: ${text}`;
}

function withoutOurs(env: FileCommandOptions['env']): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('VOICECTL_')));
}

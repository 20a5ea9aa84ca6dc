import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { wireFormat } from '../../audio/source-format.ts';
import { makeWavHeader } from '../../audio/wav/wav-header.ts';
import { systemClock } from '../../kernel/clock.ts';
import { escapeText } from '../../kernel/escape.ts';
import type { Judge } from '../../session/conversation/conversation-plan.ts';

export interface JudgeOptions {
  /** The folder of the conversation file: the command runs there, and a program named with a path is found from there. */
  folder: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Default 30 s. */
  withinMs?: number | undefined;
}

const defaultWithinMs = 30_000;
/** Most of what a command says that is shown. */
const maxSaid = 500;
const placeholder = '{wav}';

/**
 * A command as the judge of a reply: it gets the reply as WAV, and accepts it by exiting with 0. There is no shell, so
 * arguments stay what they are. The command sees no `VOICECTL_` variable, because these may hold keys.
 */
export function createJudge(command: readonly string[], options: JudgeOptions): Judge {
  const { folder, env, withinMs = defaultWithinMs } = options;
  return {
    text: command.join(' '),
    async run(reply, signal) {
      const wav = Buffer.concat([makeWavHeader(wireFormat, reply.length), reply]);
      const needsFile = command.some((word) => word.includes(placeholder));
      const place = needsFile ? await mkdtemp(join(tmpdir(), 'voicectl-judge-')) : undefined;
      try {
        const file = place && join(place, 'reply.wav');
        if (file !== undefined) await writeFile(file, wav, { mode: 0o600 });
        const words = command.map((word) => (file === undefined ? word : word.replaceAll(placeholder, file)));
        return await listen(words, { folder, env, withinMs, signal, input: needsFile ? undefined : wav });
      } catch (thrown) {
        return { ok: false, says: `the reply could not be written for it: ${(thrown as Error).message}` };
      } finally {
        if (place !== undefined) await rm(place, { recursive: true, force: true });
      }
    },
  };
}

interface ListenOptions extends JudgeOptions {
  withinMs: number;
  signal: AbortSignal;
  input: Buffer | undefined;
}

function listen(
  [program = '', ...args]: readonly string[],
  { folder, env, withinMs, signal, input }: ListenOptions,
): Promise<{ ok: boolean; says: string }> {
  return new Promise((done) => {
    const isPath = /[\\/]/.test(program);
    const child = spawn(isPath ? resolve(folder, program) : program, args, {
      cwd: folder,
      env: withoutOurs(env),
      detached: process.platform !== 'win32',
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let said = '';
    const end = (ok: boolean, how: string) => {
      timer.cancel();
      signal.removeEventListener('abort', stop);
      done({ ok, says: saidText(said, how) });
    };
    const stop = () => {
      kill(child);
      end(false, 'it was interrupted');
    };
    const timer = systemClock.after(withinMs, () => {
      kill(child);
      end(false, `it did not end within ${withinMs} ms`);
    });
    const hear = (text: Buffer) => {
      if (said.length < maxSaid) said += text.toString();
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    // A command may not read all of it.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.once('error', ({ message }) => end(false, `it cannot run: ${message}`));
    child.once('close', (code, by) =>
      end(code === 0, code === null ? `it was ended by ${by}` : `it exited with ${code}`),
    );
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/** What the command said, on one line, and how it ended unless that was well. */
function saidText(said: string, how: string): string {
  const text = escapeText(said.slice(0, maxSaid).trim().replace(/\s+/g, ' '));
  if (text === '') return how;
  return how === 'it exited with 0' ? text : `${how}: ${text}`;
}

function withoutOurs(env: JudgeOptions['env']): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('VOICECTL_')));
}

/** Kills the command and what it has started. */
function kill({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

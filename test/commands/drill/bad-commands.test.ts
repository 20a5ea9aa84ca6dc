import { describe, test } from 'vitest';
import { runInProcess } from '../../helpers/in-process.ts';
import { findMarked } from '../../helpers/marked-processes.ts';

const hasProc = process.platform === 'linux';

type Case = [what: string, name: string, command: readonly string[], code: number, says: RegExp];

/** `name` marks what the command starts, so that what is left of it can be found. */
const sh = (script: string) => ['sh', '-c', script];
const cases: Case[] = [
  ['never connects', 'idle', ['sleep', '100'], 7, /^voicectl: The device did not connect within 0\.5 s\n/],
  [
    'exits at once',
    'exits',
    sh('echo no microphone >&2; exit 3'),
    7,
    /the command ended with 3\n {2}It printed: no microphone\n/,
  ],
  [
    'prints line by line',
    'lines',
    sh('for n in 1 2 3 4 5; do echo line $n; sleep 0.02; done; exit 3'),
    7,
    /It printed: line 3 · line 4 · line 5\n/,
  ],
  ['is ended by a signal', 'dies', sh('kill -KILL $$'), 7, /SIGKILL ended the command/],
  ['forks', 'forks', sh('sleep 100 & sleep 100 & wait'), 7, /did not connect within/],
  [
    'forks into a session of its own',
    'escapes',
    sh('setsid sleep 100 & sleep 100'),
    7,
    /did not connect within/,
  ],
  [
    'floods standard error',
    'floods',
    sh('yes the same line again | head -c 50000000 >&2; exit 3'),
    7,
    /the command ended with 3\n {2}It printed: the same line again/,
  ],
  ['ignores SIGTERM', 'deaf', sh('trap "" TERM; while :; do sleep 0.05; done'), 7, /did not connect within/],
  [
    'does not exist',
    'missing',
    ['no-such-device'],
    2,
    /^voicectl: Cannot run no-such-device: command not found\n/,
  ],
  ['cannot be run', 'data', ['/etc/passwd'], 2, /^voicectl: Cannot run \/etc\/passwd/],
  ['has too long a name', 'long', ['x'.repeat(300)], 2, /^voicectl: Cannot run x+…?.*: .*ENAMETOOLONG/],
  [
    'has too long an argument',
    'large',
    ['echo', 'x'.repeat(200_000)],
    2,
    /^voicectl: Cannot run echo: .*E2BIG/,
  ],
  ['has no name', 'none', [''], 2, /^voicectl: Cannot run/],
];

describe.concurrent('a command that', () => {
  test.for(cases)(
    '%s gets a clear message, and leaves nothing running',
    async ([, name, command, code, says], { expect }) => {
      const timeout = name === 'floods' ? '30s' : '500ms';
      const argv = ['drill', '--device-timeout', timeout, '--situation', 'D1', '--', ...command];
      const ended = await runInProcess(argv, { env: { PATH: process.env.PATH ?? '', CASE: name } });
      expect(ended.code, ended.stderr).toBe(code);
      expect(ended.stderr).toMatch(says);
      expect(ended.stderr.trimEnd().split('\n').length).toBeLessThanOrEqual(3);
      // What was killed may take a moment to be gone.
      if (hasProc) await expect.poll(() => findMarked(`CASE=${name}`)).toEqual([]);
    },
  );
});

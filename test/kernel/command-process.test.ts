import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { cannotRun, startCommand } from '../../src/kernel/command-process.ts';

test('twelve commands at the same time have one listener for the exit: Node warns of more than ten', async () => {
  const before = process.listenerCount('exit');
  const options = { cwd: '/', env: { PATH: process.env.PATH } };
  const commands = Array.from({ length: 12 }, () =>
    startCommand(process.execPath, ['-e', 'setTimeout(() => {}, 100_000)'], options),
  );
  expect(process.listenerCount('exit')).toBe(before + 1);
  await Promise.all(commands.map(({ end }) => end()));
  expect(process.listenerCount('exit')).toBe(before);
  for (const { ended } of commands) expect(await ended).toEqual({ code: null, signal: 'SIGTERM' });
});

test.each([
  ['a name that is too long', 'x'.repeat(120_000), [], 'ENAMETOOLONG'],
  ['arguments that are too long', '/bin/echo', ['x'.repeat(3_000_000)], 'E2BIG'],
  ['NUL in a name', 'a\0b', [], 'ERR_INVALID_ARG_VALUE'],
  ['no name', '', [], 'ERR_INVALID_ARG_VALUE'],
])('a command with %s does not start, and leaves nothing', async (_, command, args, code) => {
  const before = process.listenerCount('exit');
  const running = startCommand(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const { stdin, stdout, stderr } = running.child;
  expect([stdin, stdout, stderr]).toEqual([null, null, null]);
  const cause = await running.started.catch((thrown) => thrown);
  expect(cause).toMatchObject({ code });
  expect(cannotRun(command, cause).message.length).toBeLessThan(400);
  await running.end({ graceMs: 0 });
  expect(process.listenerCount('exit')).toBe(before);
});

test.skipIf(process.platform !== 'linux').each([
  ['ends in time', 'wait'],
  ['ignores signals', "trap '' TERM; wait; sleep 100"],
])(
  'a command that %s leaves no descendants that have cleared their environment, in our process group or in a session of their own',
  async (_, rest) => {
    const script = `env -i sleep 100 & one=$!; setsid env -i sleep 100 & echo $one $!; ${rest}`;
    for (const sharesTerminal of [true, false]) {
      const stdio = ['ignore', 'pipe', 'inherit'] as const;
      const running = startCommand('sh', ['-c', script], { stdio: [...stdio], sharesTerminal });
      const [line] = (await once(running.child.stdout ?? process.stdin, 'data')) as [Buffer];
      const pids = line.toString().trim().split(' ');
      expect(pids.map(isRunning)).toEqual([true, true]);
      await running.end({ graceMs: 200 });
      await expect.poll(() => pids.map(isRunning)).toEqual([false, false]);
    }
  },
);

/** Killed processes remain as zombies until someone asks for their end. */
function isRunning(pid: string): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

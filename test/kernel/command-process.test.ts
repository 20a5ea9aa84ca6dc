import { expect, test } from 'vitest';
import { startCommand } from '../../src/kernel/command-process.ts';

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

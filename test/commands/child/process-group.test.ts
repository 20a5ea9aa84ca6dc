import { expect, test } from 'vitest';
import { startGroup } from '../../../src/commands/child/process-group.ts';

test('twelve commands at the same time have one listener for the exit: Node warns of more than ten', async () => {
  const before = process.listenerCount('exit');
  const options = { cwd: '/', env: { PATH: process.env.PATH } };
  const groups = await Promise.all(Array.from({ length: 12 }, () => startGroup(['sleep', '100'], options)));
  expect(process.listenerCount('exit')).toBe(before + 1);
  await Promise.all(groups.map((group) => group.kill()));
  expect(process.listenerCount('exit')).toBe(before);
  for (const { ended } of groups) expect(await ended).toBe('SIGTERM');
});

import { expect, test } from 'vitest';
import { connectRedis } from '../../../src/cluster/redis/connection.ts';
import { setUpServices } from '../../helpers/services.ts';

const services = setUpServices();

test.each<[step: string, answer: string | undefined]>([
  ['hangs up on', undefined],
  ['refuses', '-NOPERM No permissions to access a channel\r\n'],
])('a Redis that %s whoever listens counts as unreachable, with its reason', async (_step, answer) => {
  const { port } = await services.tcp((socket) => {
    socket.on('data', (commands) => {
      if (!/subscribe/i.test(commands.toString()))
        for (const _ of commands.toString().matchAll(/^\*/gm)) socket.write('+OK\r\n');
      else if (answer === undefined) socket.destroy();
      else socket.write(answer);
    });
  });
  const lost: string[] = [];
  const connection = await connectRedis({
    ...{ url: `redis://127.0.0.1:${port}`, scripts: [], deadlineMs: 5_000 },
    onLost: (why) => lost.push(why),
  });
  const listening = connection.listen('events', () => {});
  await expect(listening).rejects.toMatchObject({ code: 'connect-failed', retryable: true });
  expect(lost).toEqual([expect.stringMatching(answer === undefined ? /closed|ECONNRESET/ : /NOPERM/)]);
  connection.close();
});

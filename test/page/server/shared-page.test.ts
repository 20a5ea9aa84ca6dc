import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { AudioMessage, Hello } from '../../../src/page/messages.ts';
import { createPage } from '../../../src/page/server/create-page.ts';
import { headers, look, token } from '../../helpers/page-tab.ts';
import { hasRedis, setUpRedis } from '../../helpers/redis.ts';
import { setUpSharedEmulators } from '../../helpers/shared-emulators.ts';

const facts = { baseUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1', isDefault: false, curl: '' };

describe.skipIf(!hasRedis)('the page of one of several emulators', () => {
  const redis = setUpRedis();
  const startEmulator = setUpSharedEmulators();

  test('shows the whole service, hears the streams of its own emulator, and acts on all', async () => {
    const shared = { url: (await redis()).url, prefix: randomUUID() };
    const [own, other] = [
      await startEmulator(shared, { page: createPage(() => facts, { token }) }),
      await startEmulator(shared),
    ];
    const clients = [
      await own.present((await own.request('kitchen')).token),
      await other.present((await other.request('hall')).token),
    ];
    await Promise.all(clients.map(({ connected }) => connected));
    const tab = await look(own);
    const streams = await tab.until(() => {
      const listed = tab.state()?.state.streams ?? [];
      return listed.length === 2 && listed.map(({ stream, device }) => [device, stream] as const);
    });
    const numbers = Object.fromEntries(streams) as Record<string, number>;
    await tab.until(() => tab.events().filter((event) => event.type === 'stream-authorised').length === 2);
    expect((tab.seen[0] as Hello).instance).toBe(own.instance);
    const heard = await tab.until(() =>
      tab.seen.find((one): one is AudioMessage => one.type === 'audio' && one.streams.length > 0),
    );
    expect(heard.streams.map(({ stream }) => stream)).toEqual([numbers.kitchen]);

    const post = (path: string, body: unknown) =>
      fetch(`${own.baseUrl}/__voicectl/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect((await post('page/recordings/start', { stream: numbers.kitchen })).status).toBe(200);
    const refused = await post('page/recordings/start', { stream: numbers.hall });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('another emulator');
    expect(await (await post('close', { code: 4000 })).json()).toEqual({
      streams: expect.arrayContaining(Object.values(numbers)),
    });
    expect((await Promise.all(clients.map(({ closed }) => closed))).map(({ code }) => code)).toEqual([
      4000, 4000,
    ]);
    tab.leave();
  });
});

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { appendScript } from '../../src/cluster/redis/scripts/journal.ts';
import { restoreWindowScript } from '../../src/cluster/redis/scripts/window.ts';
import type { SharedOptions } from '../../src/cluster/shared-emulator.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { controlPrefix } from '../../src/protocol/control-paths.ts';
import { hasRedis, type Redis, startRedis } from '../helpers/redis.ts';
import { fates, setUpSharedEmulators } from '../helpers/shared-emulators.ts';

interface Relay {
  readonly url: string;
  /** How many connections it has cut. */
  readonly cuts: number;
  close(): void;
}

/** Passes everything on to a Redis, except the first commands that contain this text: it cuts their connection. */
async function startRelay(port: number, text: string): Promise<Relay> {
  let cuts = 0;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    const end = () => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', end);
    }
    far.pipe(near);
    near.on('data', (bytes) => {
      if (cuts > 0 || !bytes.includes(text)) far.write(bytes);
      else {
        cuts += 1;
        end();
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cuts() {
      return cuts;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

describe.skipIf(!hasRedis)('a Redis that does not answer', () => {
  const redises: Redis[] = [];
  const relays: Relay[] = [];
  const startEmulator = setUpSharedEmulators();
  afterEach(async () => {
    for (const relay of relays.splice(0)) relay.close();
    await Promise.all(redises.splice(0).map((redis) => redis.stop()));
  });

  const begin = async (
    options: EmulatorOptions = {},
    shared: Partial<SharedOptions> = {},
    args: string[] = [],
  ) => {
    const redis = await startRedis(args);
    redises.push(redis);
    const prefix = randomUUID();
    const start = () => startEmulator({ url: redis.url, prefix, ...shared }, options);
    return { redis, prefix, start };
  };

  test('refuses tokens and streams, keeps live streams, and reports it only once', async () => {
    const { redis, start } = await begin({ reply: 'echo' });
    const emulator = await start();
    const live = await emulator.present((await emulator.request()).token);
    await live.connected;
    const { token } = await emulator.request();
    redis.signal('SIGSTOP');
    const answers = await Promise.all([emulator.request(), emulator.request('e'), emulator.request('f')]);
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
    const refused = await emulator.present(token);
    expect((await refused.closed).code).toBe(1013);
    await live.send(Buffer.alloc(640, 1));
    await live.until(() => live.audio.length === 640);
    expect(emulator.events.filter(({ type }) => type === 'shared-away')).toMatchObject([
      { why: expect.any(String) },
    ]);

    redis.signal('SIGCONT');
    await emulator.event('shared-back');
    expect((await emulator.request()).status).toBe(200);
    const { devices } = await emulator.control.state();
    expect(devices.find(({ device }) => device === 'd')).toMatchObject({ connections: 1 });
    expect(emulator.events.filter(({ type }) => type === 'shared-away')).toHaveLength(1);
    expect(emulator.events.filter(({ type }) => type === 'shared-back')).toHaveLength(1);
  });

  test('that has lost its data gets it back: nothing is granted twice or too often', async () => {
    const { redis, start } = await begin({ rateLimit: 5, maxConnections: 2 });
    const [one, two] = [await start(), await start()];
    await two.control.advance(30_000);
    await two.control.faults.add('mute:device=other');
    const tokens: string[] = [];
    for (const emulator of [one, two, one, two, one]) tokens.push((await emulator.request()).token);
    const [first = '', second = '', unused = ''] = tokens;
    const streams = [await one.present(first), await two.present(second)];
    expect(await fates(streams)).toEqual([0, 0]);

    await redis.restart();
    await Promise.all([one.event('shared-back'), two.event('shared-back')]);
    // Nothing is granted until all have told what they know.
    await expect.poll(async () => (await two.request('later')).status).toBe(200);
    expect((await one.request()).status).toBe(429);
    expect((await two.request()).status).toBe(429);
    await expect
      .poll(async () => (await one.control.state()).devices.find(({ device }) => device === 'd'))
      .toMatchObject({ connections: 2, requests: 5 });
    expect(await one.control.time()).toMatchObject({ aheadMs: 30_000 });
    expect(await one.control.faults.list()).toMatchObject([{ fault: { name: 'mute', device: 'other' } }]);
    for (const token of [first, second, unused]) {
      const [fate] = await fates([await two.present(token)]);
      expect(fate).not.toBe(0);
    }
    streams[0]?.socket.close();
    await expect
      .poll(async () => (await two.control.state()).devices.find(({ device }) => device === 'd')?.connections)
      .toBe(1);
    expect(await fates([await one.present(unused)])).toEqual([1013]);
    expect(await fates([await one.present((await two.request('e')).token)])).toEqual([0]);
  });

  test.each<[window: 'sliding' | 'first-request']>([['sliding'], ['first-request']])(
    'that has lost its data gets it back, even if the connection is lost meanwhile: %s',
    async (window) => {
      const { redis, prefix } = await begin();
      const relay = await startRelay(redis.port, restoreWindowScript.sha);
      relays.push(relay);
      const options = { rateLimit: 2, dialect: { rateLimit: { window } } };
      const emulator = await startEmulator({ url: relay.url, prefix }, options);
      for (let asked = 0; asked < 2; asked += 1) expect((await emulator.request()).status).toBe(200);
      redis.cli('FLUSHALL');
      await emulator.request();
      await emulator.event('shared-back');
      expect(relay.cuts).toBe(1);
      let status = 503;
      await expect
        .poll(async () => {
          ({ status } = await emulator.request());
          return status;
        })
        .not.toBe(503);
      expect(status).toBe(429);
    },
  );

  test('gets the events again whose writing it cut off, in their order', async () => {
    const { redis, prefix } = await begin();
    const relay = await startRelay(redis.port, appendScript.sha);
    relays.push(relay);
    const emulator = await startEmulator({ url: relay.url, prefix });
    await emulator.event('shared-back');
    expect(relay.cuts).toBe(1);
    await emulator.request();
    const seen = await emulator.control.journal.read({}, 100);
    expect(seen.map(({ type }) => type)).toEqual(['listening', 'shared-away', 'shared-back', 'token-issued']);
  });

  test('that has lost its data gives later events higher numbers than before, so that who follows misses none', async () => {
    const { redis, start } = await begin();
    const emulator = await start();
    const newest = async () => (await emulator.control.journal.read({}, 1)).at(-1)?.seq ?? 0;
    for (let asked = 0; asked < 5; asked += 1) await emulator.request();
    const before = await newest();
    expect(before).toBeGreaterThanOrEqual(5);
    redis.cli('FLUSHALL');
    await emulator.request();
    await emulator.event('shared-back');
    await expect.poll(newest).toBeGreaterThan(before);
  });

  test('that has lost its data gives no number twice, even if another emulator joins before the former ones', async () => {
    const { redis, start } = await begin();
    const one = await start();
    const open = await one.present((await one.request()).token);
    await open.connected;
    redis.cli('FLUSHALL');
    const two = await start();
    expect(two.instance).toBe(one.instance);
    const token = async () => (await two.request()).token;
    // The first one learns at its next step that the data is lost, and comes back with its number.
    await one.request();
    await one.event('shared-back');
    await expect.poll(() => two.instance).toMatch(/-2$/);
    expect(one.instance).toMatch(/-1$/);
    await expect.poll(token).not.toBe('');
    const streams = [await one.present(await token()), await two.present(await token())];
    expect(await fates(streams)).toEqual([0, 0]);
    const { streams: listed } = await one.control.state();
    expect(listed.map(({ stream }) => stream)).toEqual([10_000_001, 10_000_002, 20_000_001]);
    expect(two.events.at(-1)?.instance).toMatch(/-2$/);
    expect((await two.control.state()).devices).toMatchObject([{ connections: 3 }]);
  });

  test('that has lost its data gives all emulators the control secret of the one that joined first, and says so', async () => {
    const { redis, start } = await begin();
    const one = await start();
    const before = one.controlSecret;
    redis.cli('FLUSHALL');
    const two = await start();
    await one.request();
    await one.event('shared-back');
    expect(two.controlSecret).not.toBe(before);
    expect(one.controlSecret).toBe(two.controlSecret);
    const ask = async ({ baseUrl }: { baseUrl: string }, secret: string) => {
      const headers = { Authorization: `Bearer ${secret}` };
      return (await fetch(`${baseUrl}${controlPrefix}/state`, { headers })).status;
    };
    await expect.poll(() => ask(one, two.controlSecret)).toBe(200);
    expect(await ask(two, two.controlSecret)).toBe(200);
    expect(await ask(one, before)).toBe(401);
    const said = JSON.stringify(one.events);
    expect(said).toContain('The control secret has changed');
    expect(said).not.toContain(two.controlSecret);
  });

  test('an emulator that lost its number takes one new number, even if two messages say so at once', async () => {
    const { redis, prefix, start } = await begin();
    const emulator = await start();
    redis.cli('HSET', `${prefix}:service`, 'owner 1', 'another emulator');
    const pulse = `redis.call('PUBLISH', KEYS[1], '{"op":"pulse","args":null}')`;
    redis.cli('EVAL', `${pulse} ${pulse}`, '1', `${prefix}:asks`);
    await expect.poll(() => emulator.instance).toMatch(/-2$/);
    expect((await emulator.request()).status).toBe(200);
    expect(redis.cli('HGET', `${prefix}:service`, 'numbers').trim()).toBe('2');
  });

  test('a token of one emulator is good for the other, before and after the data is lost', async () => {
    const { redis, start } = await begin();
    const [one, two] = [await start(), await start()];
    expect(await fates([await two.present((await one.request()).token)])).toEqual([0]);
    await redis.restart();
    await Promise.all([one.event('shared-back'), two.event('shared-back')]);
    await expect.poll(async () => (await one.request()).status).toBe(200);
    expect(await fates([await two.present((await one.request()).token)])).toEqual([0]);
  });

  test('a stream whose slot was taken in the meantime is closed as one too many', async () => {
    const { redis, prefix, start } = await begin({ maxConnections: 1 });
    const [one, two] = [await start(), await start()];
    const first = await one.present((await one.request()).token);
    await first.connected;
    // As after a long stop of the first emulator: its lease has run out.
    redis.cli('DEL', `${prefix}:{d}:slots`);
    const second = await two.present((await two.request()).token);
    expect(await fates([second])).toEqual([0]);
    redis.cli('CLIENT', 'KILL', 'TYPE', 'pubsub');
    expect((await first.closed).code).toBe(4429);
    await two.event('shared-back');
    expect((await two.control.state()).devices).toMatchObject([{ connections: 1 }]);
  });

  test('whoever follows the events hears the later ones when Redis is back', async () => {
    const { redis, start } = await begin();
    const [one, two] = [await start(), await start()];
    const heard: string[] = [];
    one.control.journal.follow({ type: 'token-issued' }, (entry) => heard.push(entry.instance ?? ''));
    redis.cli('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await Promise.all([one.event('shared-back'), two.event('shared-back')]);
    await expect
      .poll(async () => {
        await two.request();
        return heard;
      })
      .toContain(two.instance);
  });

  test('the slots of an emulator that was killed are free when its leases expire', async () => {
    const { redis, prefix, start } = await begin({ maxConnections: 2 });
    const one = await start();
    const slots = `${prefix}:{d}:slots`;
    const inFuture = String(Date.now() + 60_000);
    redis.cli('ZADD', slots, inFuture, 'killed-1', inFuture, 'killed-2');
    const { token } = await one.request();
    expect(await fates([await one.present(token)])).toEqual([4429]);
    redis.cli('ZADD', slots, 'XX', '1', 'killed-1', '1', 'killed-2');
    expect(await fates([await one.present(token)])).toEqual([0]);
  });

  test('that is full refuses like one that is unreachable, until it has room', async () => {
    const { redis, start } = await begin();
    const emulator = await start();
    redis.cli('CONFIG', 'SET', 'maxmemory', '1');
    expect((await emulator.request()).status).toBe(503);
    redis.cli('CONFIG', 'SET', 'maxmemory', '0');
    await emulator.event('shared-back');
    expect((await emulator.request()).status).toBe(200);
  });

  test('that may drop keys causes a warning, and a wrong password is reported without showing it', async () => {
    const { redis, prefix, start } = await begin({}, {}, ['--maxmemory-policy', 'allkeys-lru']);
    const emulator = await start();
    expect(await emulator.event('shared-warning')).toMatchObject({
      why: expect.stringContaining('allkeys-lru'),
    });
    redis.cli('CONFIG', 'SET', 'requirepass', 'open-sesame');
    const at = (user: string) => ({ url: redis.url.replace('//', `//${user}@`), prefix: `${prefix}-2` });
    await startEmulator(at(':open-sesame'), {});
    for (const wrong of [at(':sesame-shut'), { url: redis.url }]) {
      const failure = await startEmulator(wrong, {}).catch((error: Error) => error);
      expect(failure).toMatchObject({ code: 'bad-config' });
      expect(JSON.stringify(failure) + String(failure)).not.toContain('sesame');
    }
  });
});

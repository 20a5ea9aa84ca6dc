import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { hasRedis, setUpRedis } from '../helpers/redis.ts';
import { fates, setUpSharedEmulators } from '../helpers/shared-emulators.ts';

describe.skipIf(!hasRedis)('emulators that share a Redis', () => {
  const redis = setUpRedis();
  const startEmulator = setUpSharedEmulators();
  const start = async (prefix: string, options: EmulatorOptions = {}) =>
    startEmulator({ url: (await redis()).url, prefix }, options);
  const startTwo = async (options: EmulatorOptions = {}) => {
    const prefix = randomUUID();
    return [await start(prefix, options), await start(prefix, options)] as const;
  };
  const startThree = async (options: EmulatorOptions = {}) => {
    const prefix = randomUUID();
    return [
      await start(prefix, options),
      await start(prefix, options),
      await start(prefix, options),
    ] as const;
  };
  const count = <Item>(items: readonly Item[], wanted: Item) =>
    items.filter((item) => item === wanted).length;

  test('grant 60 of 200 tokens, 10 of 50 streams, and one stream for a token', async () => {
    const emulators = await startThree();
    const any = (at: number) => emulators[at % emulators.length] ?? emulators[0];
    const answers = await Promise.all(Array.from({ length: 200 }, (_, at) => any(at).request()));
    expect(
      count(
        answers.map(({ status }) => status),
        200,
      ),
    ).toBe(60);
    expect(
      count(
        answers.map(({ status }) => status),
        429,
      ),
    ).toBe(140);
    const tokens = answers.flatMap(({ token }) => (token === '' ? [] : [token]));
    const streams = await Promise.all(tokens.slice(0, 50).map((token, at) => any(at).present(token)));
    const codes = await fates(streams);
    expect(count(codes, 0)).toBe(10);
    expect(count(codes, 4429)).toBe(40);
    const { token: again } = await any(0).request('e');
    const repeated = await Promise.all(Array.from({ length: 100 }, (_, at) => any(at).present(again)));
    const fate = await fates(repeated);
    expect(count(fate, 0)).toBe(1);
    // The others found all slots taken by their own kind, or the token used.
    expect(fate.filter((code) => ![0, 4401, 4429].includes(code))).toEqual([]);
  });

  test('ignore what another program writes under their names, report it, and continue', async () => {
    const prefix = randomUUID();
    const [one, two] = [await start(prefix), await start(prefix)];
    const { cli } = await redis();
    const live = await one.present((await one.request('live')).token);
    await live.connected;
    cli('SET', `${prefix}:{stranger}:window`, 'not ours');
    cli('SET', `${prefix}:{stranger}:slots`, 'not ours');
    cli('ZADD', `${prefix}:devices`, '9999999999999', 'stranger');
    cli('RPUSH', `${prefix}:issued`, 'not ours', '5', '{"exp":"x"}');
    cli('XADD', `${prefix}:journal`, '*', 'theirs', 'not ours');
    one.control.journal.follow({}, () => {});
    for (const channel of ['asks', 'events', `answers:${one.instance}`, `answers:${two.instance}`])
      for (const text of ['not ours', '{}', '5', '["a"]', '7\nnot ours', '{"id":1,"result":5}'])
        cli('PUBLISH', `${prefix}:${channel}`, text);
    for (const message of [
      '{"op":"clock","args":1e300}',
      '{"op":"clock","args":"x"}',
      '{"op":"faults","args":[[1,"not ours"]]}',
      '{"op":"close","args":null}',
      '{"op":"struck","args":5}',
    ])
      cli('PUBLISH', `${prefix}:asks`, message);
    expect((await two.request('stranger')).status).toBe(503);
    expect((await two.request('other')).status).toBe(200);
    const other = await two.present((await two.request('other')).token);
    await other.connected;
    const state = await one.control.state();
    expect(state.streams.map(({ device }) => device)).toEqual(expect.arrayContaining(['live', 'other']));
    const journal = await two.control.journal.read({}, 1_000);
    expect(journal.filter(({ type }) => type === 'stream-authorised')).toHaveLength(2);
    expect(live.socket.readyState).toBe(live.socket.OPEN);
    for (const { events } of [one, two]) {
      expect(events.filter(({ type }) => type === 'shared-away' || type === 'bug')).toEqual([]);
      expect(events.filter(({ type }) => type === 'shared-warning').length).toBeGreaterThan(0);
    }
  });

  test('a slot is free for all emulators as soon as its stream ends', async () => {
    const [one, two] = await startTwo({ maxConnections: 1 });
    const first = await one.present((await one.request()).token);
    await first.connected;
    const refused = await two.present((await two.request()).token);
    expect((await refused.closed).code).toBe(4429);
    first.socket.close();
    await expect
      .poll(async () => {
        const next = await two.present((await two.request()).token);
        return (await fates([next]))[0];
      })
      .toBe(0);
  });

  test('one of them controls all: clock, streams, faults, journal and reset', async () => {
    const [one, two, three] = await startThree();
    const client = await two.present((await two.request()).token);
    await client.connected;
    const { control } = one;
    await control.advance(61_000);
    expect((await three.control.time()).aheadMs).toBe(61_000);
    expect(await three.request()).toMatchObject({ status: 200 });

    const { streams, devices } = await control.state();
    expect(streams).toMatchObject([{ device: 'd' }]);
    expect(devices).toMatchObject([{ device: 'd', connections: 1, requests: 1 }]);
    const id = streams[0]?.stream ?? 0;
    expect(await control.send({ stream: id }, { json: { hello: 'all' } })).toEqual([id]);
    await expect.poll(() => client.messages).toContainEqual({ hello: 'all' });

    const { id: fault } = await control.faults.add('token-error:status=418,times=1');
    expect(await three.control.faults.list()).toMatchObject([{ id: fault, struck: 0 }]);
    expect((await three.request()).status).toBe(418);
    await expect.poll(async () => (await control.faults.list())[0]?.struck).toBe(1);
    expect((await one.request()).status).toBe(200);
    await two.control.faults.clear();
    expect(await control.faults.list()).toEqual([]);

    expect(await control.close({ stream: id }, 4000, 'from afar')).toEqual([id]);
    expect(await client.closed).toEqual({ code: 4000, reason: 'from afar' });
    const journal = await three.control.journal.read({}, 1_000);
    expect(journal.map(({ seq }) => seq)).toEqual(journal.map((_, at) => (journal[0]?.seq ?? 0) + at));
    expect(new Set(journal.map(({ instance }) => instance))).toEqual(
      new Set([one.instance, two.instance, three.instance]),
    );
    const other = await three.present((await three.request()).token);
    await other.connected;
    expect(await one.control.reset()).toHaveLength(1);
    expect((await other.closed).code).toBe(1012);
    expect((await two.control.state()).devices).toEqual([]);
  });

  test('a fault of which an emulator was not told is known to it once it reports that it runs', async () => {
    const prefix = randomUUID();
    const emulator = await start(prefix);
    const { cli } = await redis();
    const fault = JSON.stringify({ name: 'mute', device: 'lamp' });
    cli('HSET', `${prefix}:service`, 'faults', JSON.stringify([[7, fault]]));
    expect(await emulator.control.faults.list()).toEqual([]);
    cli('PUBLISH', `${prefix}:asks`, JSON.stringify({ op: 'pulse', args: null }));
    await expect
      .poll(() => emulator.control.faults.list())
      .toMatchObject([{ id: 7, fault: { name: 'mute' } }]);
  });

  test('a fault strikes as often as it says, and all of them count each strike once', async () => {
    const [one, two] = await startTwo();
    await one.control.faults.add('token-error:status=418,times=4');
    for (const struck of [1, 2, 3, 4]) {
      expect((await two.request()).status).toBe(418);
      // All have heard of the strike when they have answered.
      await one.control.state();
      for (const { control } of [one, two]) expect(await control.faults.list()).toMatchObject([{ struck }]);
    }
    expect((await two.request()).status).toBe(200);
  });

  test('a fault that a scenario adds stays with its emulator until it is cleared, by number or with all', async () => {
    const scenario: EmulatorOptions['scenario'] = {
      steps: [{ when: 'connected', do: [{ fault: 'slow-yield:by=1s' }] }],
    };
    const [one, two] = await startTwo({ scenario });
    const faultsOf = async ({ control }: typeof one) =>
      (await control.faults.list()).map(({ id, fault }) => ({ id, name: fault.name }));
    const add = async () => {
      await one.present((await one.request()).token);
      await expect.poll(() => faultsOf(one)).toContainEqual({ id: expect.any(Number), name: 'slow-yield' });
      return (await faultsOf(one)).find(({ name }) => name === 'slow-yield')?.id ?? expect.unreachable();
    };
    const id = await add();
    await two.control.faults.add('mute:device=other');
    expect((await faultsOf(one)).map(({ name }) => name).sort()).toEqual(['mute', 'slow-yield']);
    expect((await faultsOf(two)).map(({ name }) => name)).toEqual(['mute']);
    expect(await two.control.faults.clear(id)).toBe(1);
    expect((await faultsOf(one)).map(({ name }) => name)).toEqual(['mute']);
    await add();
    expect(await two.control.faults.clear()).toBe(2);
    expect(await faultsOf(one)).toEqual([]);
    await add();
    await two.control.reset();
    expect(await faultsOf(one)).toEqual([]);
  });

  test('a stream keeps its slot for as long as it is open', async () => {
    const prefix = randomUUID();
    const emulator = await start(prefix, { maxConnections: 1 });
    await (await emulator.present((await emulator.request()).token)).connected;
    const { cli } = await redis();
    const slots = `${prefix}:{d}:slots`;
    const lease = cli('ZRANGE', slots, '0', '-1').trim();
    const endsAt = Date.now() + 5_000;
    cli('ZADD', slots, 'XX', String(endsAt), lease);
    cli('PUBLISH', `${prefix}:asks`, '{"op":"pulse","args":null}');
    await expect.poll(() => Number(cli('ZSCORE', slots, lease))).toBeGreaterThan(endsAt);
  });

  test('the events of all reach whoever follows one of them', async () => {
    const [one, two] = await startTwo();
    const heard: string[] = [];
    one.control.journal.follow({ type: 'token-issued' }, (entry) => heard.push(entry.instance ?? ''));
    await one.control.state();
    await two.request();
    await expect.poll(() => heard).toEqual([two.instance]);
  });

  test('each request to the control API needs the secret, which is the same for all', async () => {
    const [one, two] = await startTwo();
    expect(two.controlSecret).toBe(one.controlSecret);
    const ask = (headers: Record<string, string>) => fetch(`${one.baseUrl}/__voicectl/state`, { headers });
    expect((await ask({})).status).toBe(401);
    expect((await ask({ Authorization: `Bearer ${one.controlSecret}` })).status).toBe(200);
  });

  test('one that starts with other settings is refused with what differs', async () => {
    const prefix = randomUUID();
    const first = await start(prefix, { dialect: { token: { secret: 's'.repeat(40) } }, faults: ['mute'] });
    const refusal = start(prefix, {
      rateLimit: 5,
      controlSecret: 'mine-alone',
      dialect: { token: { secret: 't'.repeat(40), issuer: 'other' } },
      faults: ['mute'],
    });
    await expect(refusal).rejects.toMatchObject({ code: 'bad-config' });
    const { message } = (await refusal.catch((error) => error)) as Error;
    expect(message).toContain('rateLimit is 60 there and 5 here');
    expect(message).toContain('controlSecret differs');
    expect(message).toContain('dialect.token.issuer is "voicectl-emulator" there and "other" here');
    expect(message).toContain('dialect.token.secret differs');
    expect(message).not.toMatch(/sss|ttt|mine/);
    await first.close();
    const later = await start(prefix, { rateLimit: 5 });
    expect((await later.request()).status).toBe(200);
  });

  test.each(['RS256', 'ES256', 'EdDSA', 'HS512'] as const)(
    'a token of one is good for another: %s',
    async (algorithm) => {
      const [one, two] = await startTwo({ dialect: { token: { algorithm } }, seed: 1 });
      const tokens = [(await one.request()).token, (await two.request()).token];
      expect(new Set(tokens).size).toBe(2);
      const streams = [await two.present(tokens[0] ?? ''), await one.present(tokens[1] ?? '')];
      expect(await fates(streams)).toEqual([0, 0]);
    },
  );

  test('one that cannot start leaves the service immediately', async () => {
    const prefix = randomUUID();
    const wrongKey = '-----BEGIN PRIVATE KEY-----\nno key\n-----END PRIVATE KEY-----';
    const dialect = { token: { algorithm: 'ES256', privateKey: wrongKey } } as const;
    await expect(start(prefix, { dialect })).rejects.toMatchObject({ code: 'bad-dialect' });
    // An emulator with other settings would be refused as long as the first one lived.
    expect((await (await start(prefix)).request()).status).toBe(200);
  });
});

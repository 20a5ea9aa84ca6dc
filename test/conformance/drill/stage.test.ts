import { expect, test } from 'vitest';
import { openStage } from '../../../src/conformance/drill/stage.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { tokenPath } from '../../../src/protocol/paths.ts';
import { openStream } from '../../helpers/stream-client.ts';

const mebibyte = 1024 * 1024;

test('what is kept from a device that floods the service is limited in bytes', async () => {
  const stage = await openStage({
    situation: {
      id: 'D1',
      title: 'a flood',
      service: { reply: 'silence' },
      until: () => false,
      longest: { ms: 1 },
      judge: () => ({ verdict: 'pass', message: '', evidence: [] }),
    },
    access: {},
    clock: systemClock,
    device: undefined,
    onChange: () => {},
  });
  try {
    const answer = await fetch(`${stage.address.baseUrl}${tokenPath()}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ apiKey: 'key', deviceId: 'device-1' }),
    });
    const { token } = (await answer.json()) as { token: string };
    const client = openStream(stage.address.wsUrl);
    await client.opened;
    await client.send(token);
    await client.connected;
    const text = 'x'.repeat(mebibyte);
    for (let count = 0; count < 68; count += 1) await client.send(text);
    client.socket.close(1000);
    await client.closed;
    const kept = stage.watch
      .seen()
      .flatMap(({ exchange }) => ('messages' in exchange ? exchange.messages : []));
    const bytes = kept.reduce((sum, message) => sum + message.bytes, 0);
    expect(bytes).toBeGreaterThan(60 * mebibyte);
    expect(bytes).toBeLessThan(66 * mebibyte);
  } finally {
    await stage.close();
  }
});

test('a situation of one device is nothing that another one brings about, or shows', async () => {
  const stage = await openStage({
    situation: {
      id: 'D9',
      title: 'a fault',
      service: { reply: 'silence', faults: [{ name: 'token-unavailable', times: 1 }] },
      until: () => false,
      longest: { ms: 1 },
      judge: () => ({ verdict: 'pass', message: '', evidence: [] }),
    },
    ...{ access: {}, clock: systemClock, device: 'lamp', onChange: () => {} },
  });
  const ask = async (deviceId: string) => {
    const answer = await fetch(`${stage.address.baseUrl}${tokenPath()}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ apiKey: 'key', deviceId }),
    });
    return { status: answer.status, ...((await answer.json()) as { token: string }) };
  };
  const open = async (token: string) => {
    const client = openStream(stage.address.wsUrl);
    await client.opened;
    await client.send(token);
    await client.connected;
    return client;
  };
  try {
    const { token } = await ask('stranger');
    const stranger = openStream(stage.address.wsUrl);
    await stranger.opened;
    // Nobody knows yet whose stream it is.
    expect(stage.watch.seen()).toEqual([]);
    await stranger.send(token);
    await stranger.connected;
    expect(stage.watch.isShared).toBe(true);
    expect([stage.watch.hasCome(), stage.watch.seen(), stage.watch.journal.map(({ type }) => type)]).toEqual([
      false,
      [],
      expect.not.arrayContaining(['token-issued', 'fault-struck']),
    ]);
    expect(await ask('lamp')).toMatchObject({ status: 503 });
    expect(stage.watch.hasCome()).toBe(true);
    const lamp = await open((await ask('lamp')).token);
    stage.do({ fault: { name: 'close', code: 1012, times: 1 } });
    expect(await lamp.closed).toMatchObject({ code: 1012 });
    expect(stranger.socket.readyState).toBe(stranger.socket.OPEN);
  } finally {
    await stage.close();
  }
});

test('a stream without a token is of the device that counts, unless others connect too: then once none comes', async () => {
  const stage = await openStage({
    situation: {
      id: 'D2',
      title: 'no token',
      until: () => false,
      longest: { ms: 1 },
      judge: () => ({ verdict: 'pass', message: '', evidence: [] }),
    },
    ...{ access: {}, clock: systemClock, device: 'lamp', onChange: () => {} },
  });
  try {
    const alone = openStream(stage.address.wsUrl);
    await alone.opened;
    expect(stage.watch.seen()).toMatchObject([{ id: 'S1' }]);
    expect(stage.watch.isShared).toBe(false);
    await fetch(`${stage.address.baseUrl}${tokenPath()}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ apiKey: 'key', deviceId: 'stranger' }),
    });
    expect(stage.watch.seen()).toEqual([]);
    await alone.send('hello');
    await alone.closed;
    expect(stage.watch.seen()).toMatchObject([{ id: 'S1' }]);
  } finally {
    await stage.close();
  }
});

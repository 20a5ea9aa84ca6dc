import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createEventWatch } from '../../../src/emulator/event-watch.ts';
import { awaitToken, createTokenUses } from '../../../src/emulator/streams/authorisation.ts';
import type { StreamConnection } from '../../../src/emulator/streams/connection.ts';
import { createTokenAuthority } from '../../../src/emulator/tokens/token-authority.ts';
import { createTokenEndpoint } from '../../../src/emulator/tokens/token-endpoint.ts';
import { VoicectlError } from '../../../src/kernel/errors.ts';
import { defaultDialect } from '../../../src/protocol/dialect.ts';
import { createControl } from '../../../src/service/control/control.ts';
import { createStreamActions } from '../../../src/service/control/stream-actions.ts';
import { createEmulatorEvents } from '../../../src/service/events.ts';
import { createFaults } from '../../../src/service/faults/faults.ts';
import { createRandom } from '../../../src/service/random.ts';
import { createMemoryState } from '../../../src/service/state/memory.ts';
import { isUnavailable, type State, stateUnavailable, whenKnown } from '../../../src/service/state/state.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';
import { promiseState } from '../../helpers/promised-state.ts';

test('a value is used immediately, and a promise when it resolves', async () => {
  expect(whenKnown(1, (value) => value + 1)).toBe(2);
  const promised = whenKnown(Promise.resolve(1), (value) => value + 1);
  expect(promised).toBeInstanceOf(Promise);
  expect(await promised).toBe(2);
});

/** A connection without a socket: what was closed, and what is to happen at its end. */
function fakeConnection() {
  const endings: (() => void)[] = [];
  const connection = {
    id: 1,
    socket: new EventEmitter(),
    ended: false,
    closedFor: undefined as string | undefined,
    onEnding(call: () => void) {
      if (connection.ended) call();
      else endings.push(call);
    },
    close(cause: string) {
      connection.closedFor = cause;
      connection.end();
    },
    end() {
      connection.ended = true;
      for (const call of endings.splice(0)) call();
    },
  };
  return connection;
}

async function start(wrap: (state: State) => State) {
  const clock = createManualClock();
  const dialect = defaultDialect();
  const memory = createMemoryState({ clock, dialect, rateLimit: 60, maxConnections: 10 });
  const state = wrap(memory);
  const events = createEmulatorEvents(clock.now);
  events.subscribe(state.journal.add);
  const random = createRandom(1);
  const faults = createFaults({ initial: [], random, events });
  const authority = await createTokenAuthority({ clock, random, settings: dialect.token });
  const endpoint = createTokenEndpoint({
    ...{ clock, dialect, events, authority, faults, state },
    rateLimit: 60,
    accepts: () => true,
  });
  const authorised: number[] = [];
  /** A connection that presents a token. */
  const present = (token: string) => {
    const connection = fakeConnection();
    awaitToken({
      ...{ clock, authority, state, faults, events },
      maxConnections: 10,
      uses: createTokenUses(),
      connection: connection as unknown as StreamConnection,
      settings: dialect.stream,
      isFull: () => false,
      evictOldest() {},
      onThrown(thrown) {
        throw thrown;
      },
      onAuthorised(_claims, connections) {
        authorised.push(connections);
        return () => {};
      },
    });
    connection.socket.emit('message', Buffer.from(token), false);
    return connection;
  };
  const issue = async (device = 'd') => (await authority.issue(device)).token;
  const control = createControl({
    ...{ clock, state, faults, events },
    rateLimit: 60,
    maxConnections: 10,
    flushFloods: () => {},
    streams: createStreamActions({ dialect, voice: { streams: () => [] } }),
  });
  return { memory, state, events, endpoint, present, issue, authorised, control };
}

const unlimited = () => ({ closed: new AbortController().signal, clock: createManualClock() });

describe.each<[string, (state: State) => State]>([
  ['in memory', (state) => state],
  ['that answers with promises', promiseState],
])('over a state %s', (_name, wrap) => {
  const body = Buffer.from('{"apiKey":"k","deviceId":"d"}');

  test('of 200 token requests at once exactly 60 are granted', async () => {
    const { endpoint } = await start(wrap);
    const answers = await Promise.all(Array.from({ length: 200 }, () => endpoint.answer(body, '127.0.0.1')));
    const statuses = answers.map((answer) => typeof answer === 'object' && answer.status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(140);
  });

  test('of 50 connections at once exactly 10 are authorised, and the other tokens stay unused', async () => {
    const { present, issue, authorised, memory } = await start(wrap);
    const tokens = await Promise.all(Array.from({ length: 50 }, () => issue()));
    const connections = tokens.map(present);
    await expect.poll(() => connections.filter(({ ended }) => ended).length).toBe(40);
    await expect.poll(() => authorised).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    const refused = connections.filter(({ closedFor }) => closedFor === 'tooManyConnections');
    expect(refused).toHaveLength(40);
    for (const connection of connections) connection.end();
    expect(memory.survey().connections.size).toBe(0);
    const spare = present(tokens[49] ?? '');
    await expect.poll(() => authorised).toHaveLength(11);
    expect(spare.closedFor).toBeUndefined();
  });

  test('of 100 connections with one token exactly one is authorised, and no slot is lost', async () => {
    const { present, issue, authorised, memory } = await start(wrap);
    const token = await issue();
    const connections = Array.from({ length: 100 }, () => present(token));
    await expect.poll(() => connections.filter(({ ended }) => ended).length).toBe(99);
    await expect.poll(() => authorised).toHaveLength(1);
    await expect.poll(() => memory.survey().connections.get('d')).toBe(1);
  });

  test('the control shows, moves and forgets what the state knows', async () => {
    const { endpoint, control, events } = await start(wrap);
    await endpoint.answer(body, '127.0.0.1');
    events.emit({ type: 'stopping' });
    await control.advance(1_000);
    expect(await control.state()).toMatchObject({
      clock: { aheadMs: 1_000 },
      devices: [{ device: 'd', requests: 1, limit: 60 }],
      tokens: [{ device: 'd', used: false }],
    });
    expect(await control.journal.read({ type: 'stopping' }, 1)).toHaveLength(1);
    await control.reset();
    expect(await control.state()).toMatchObject({ devices: [], tokens: [] });
    expect(await control.journal.read({}, 10)).toMatchObject([{ type: 'control' }]);
  });

  test('a past event is found, and so is one that comes while the past is read', async () => {
    const { events, state } = await start(wrap);
    const watch = createEventWatch(events, state.journal, unlimited());
    const next = watch.waitFor('stopping');
    events.emit({ type: 'stopping' });
    expect(await next).toMatchObject({ type: 'stopping' });
    expect(await watch.waitFor('stopping')).toMatchObject({ type: 'stopping' });
  });
});

test('a connection that ends while its slot is fetched releases the slot, and its token stays unused', async () => {
  let whileLeasing = () => {};
  const { present, issue, authorised, memory } = await start((state) =>
    promiseState({
      ...state,
      leaseSlot(device) {
        const lease = state.leaseSlot(device);
        whileLeasing();
        return lease;
      },
    }),
  );
  const token = await issue();
  const goes = new Promise<void>((resolve) => {
    const connection = present(token);
    whileLeasing = () => {
      connection.end();
      resolve();
    };
  });
  await goes;
  await expect.poll(() => memory.survey().connections.size).toBe(0);
  whileLeasing = () => {};
  present(token);
  await expect.poll(() => authorised).toEqual([1]);
});

test('a journal that cannot be read is reported to whoever waits for an event', async () => {
  const { events, state } = await start((memory) => memory);
  const journal = { ...state.journal, read: () => Promise.reject(new Error('out of reach')) };
  const watch = createEventWatch(events, journal, unlimited());
  await expect(watch.waitFor('stopping')).rejects.toThrow('out of reach');
});

test('an unavailable state is a retryable error with its cause', () => {
  const cause = new Error('ECONNREFUSED');
  const away = stateUnavailable('Redis is away', cause);
  expect(away).toMatchObject({ code: 'connect-failed', message: 'Redis is away', retryable: true, cause });
  expect(isUnavailable(away)).toBe(true);
});

test.each([
  new VoicectlError('internal', 'a bug'),
  Object.assign(new Error('another library says so'), { code: 'connect-failed' }),
  undefined,
])('any other error is not', (thrown) => {
  expect(isUnavailable(thrown)).toBe(false);
});

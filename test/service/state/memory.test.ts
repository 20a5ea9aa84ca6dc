import { describe, expect, test } from 'vitest';
import { buildClaims } from '../../../src/protocol/claims.ts';
import { type DialectInput, parseDialect } from '../../../src/protocol/dialect.ts';
import { createMemoryState } from '../../../src/service/state/memory.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';

const nowMs = Date.UTC(2026, 0, 1);

function start(token: DialectInput['token'] = {}) {
  const parsed = parseDialect({ token });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const clock = createManualClock(nowMs);
  const state = createMemoryState({ clock, dialect: parsed.dialect, rateLimit: 2, maxConnections: 1 });
  const claims = (jti: string, device = 'd') =>
    buildClaims({ deviceId: device, issuer: 'i', jti, nowMs: clock.wall() });
  return { clock, state, claims };
}

describe('a token', () => {
  test('is spent once, and stays spent for as long as it could be presented again', () => {
    const { clock, state, claims } = start({ clockToleranceSeconds: 5 });
    const token = claims('1');
    expect([state.spendToken(token), state.spendToken(token)]).toEqual([true, false]);
    clock.advance(64_999);
    expect(state.spendToken(token)).toBe(false);
  });

  test('stays spent until the second ends in which a fraction of tolerance is over', () => {
    const { clock, state, claims } = start({ clockToleranceSeconds: 0.5 });
    const token = claims('1');
    expect(state.spendToken(token)).toBe(true);
    clock.advance(60_999);
    expect(state.spendToken(token)).toBe(false);
  });

  test('can be spent repeatedly if the dialect says so', () => {
    const { state, claims } = start({ singleUse: false });
    expect([state.spendToken(claims('1')), state.spendToken(claims('1'))]).toEqual([true, true]);
  });

  test('that another program made with the same secret is spent once, too', () => {
    const { state, claims } = start();
    expect([state.spendToken(claims('foreign')), state.spendToken(claims('foreign'))]).toEqual([true, false]);
  });

  test('is shown from its issue until it expires, and whether it was used', () => {
    const { clock, state, claims } = start();
    state.rememberIssued(claims('1'));
    state.rememberIssued(claims('2'));
    state.spendToken(claims('2'));
    const shown = () => state.survey().tokens.map(({ token: { jti }, used }) => [jti, used]);
    expect(shown()).toEqual([
      ['1', false],
      ['2', true],
    ]);
    clock.advance(60_000);
    expect(shown()).toEqual([]);
  });

  test('is shown even if the journal was cleared or has dropped its events', () => {
    const { state, claims } = start();
    state.rememberIssued(claims('1'));
    state.spendToken(claims('1'));
    for (let i = 0; i < 30_000; i += 1) state.journal.add({ t: i, type: 'stopping' });
    state.journal.clear();
    expect(state.survey().tokens).toMatchObject([{ token: { jti: '1' }, used: true }]);
  });

  test('is one of the newest 10,000 that are shown', () => {
    const { state, claims } = start();
    for (let i = 0; i < 25_000; i += 1) state.rememberIssued(claims(String(i)));
    const { tokens } = state.survey();
    expect(tokens.length).toBe(10_000);
    expect(tokens.at(-1)?.token.jti).toBe('24999');
  });
});

test('forgetting clears windows, the list of tokens and the journal; what was used or taken stays so', () => {
  const { state, claims } = start();
  state.countRequest('d');
  state.rememberIssued(claims('1'));
  state.spendToken(claims('1'));
  state.journal.add({ t: 0, type: 'stopping' });
  const lease = state.leaseSlot('d');
  state.forget();
  expect(state.survey()).toEqual({ windows: [], connections: new Map([['d', 1]]), tokens: [] });
  expect(state.journal.read({}, 10)).toEqual([]);
  expect(state.spendToken(claims('1'))).toBe(false);
  expect(state.leaseSlot('d')).toBeUndefined();
  lease?.release();
  expect(state.leaseSlot('d')).toBeDefined();
});

test('moving the clock adds up, and opens new windows', () => {
  const { clock, state } = start();
  const before = clock.wall();
  state.countRequest('d');
  state.advance(20_000);
  state.advance(41_000);
  expect(state.clockOffset()).toBe(61_000);
  expect(clock.wall() - before).toBe(61_000);
  expect(state.countRequest('d').remaining).toBe(1);
});

import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { buildClaims } from '../../../src/protocol/claims.ts';
import { type Dialect, type DialectInput, parseDialect } from '../../../src/protocol/dialect.ts';
import type { State } from '../../../src/service/state/state.ts';

export interface StateUnderTest {
  state: State;
  /** Wall-clock time of the service. */
  nowMs: () => number;
  close(): Promise<void>;
}

export interface StateSettings {
  dialect: Dialect;
  rateLimit: number;
  maxConnections: number;
}

type Start = (settings: StateSettings) => Promise<StateUnderTest>;

/** What every state does, however it is kept. */
export function describeState(name: string, start: Start): void {
  describe(name, () => {
    const running: StateUnderTest[] = [];
    afterEach(async () => {
      await Promise.all(running.splice(0).map(({ close }) => close()));
    });
    const open = async (input: DialectInput = {}, rateLimit = 60, maxConnections = 10) => {
      const parsed = parseDialect(input);
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
      const under = await start({ dialect: parsed.dialect, rateLimit, maxConnections });
      running.push(under);
      const claims = (device = 'd', jti: string = randomUUID()) =>
        buildClaims({ deviceId: device, issuer: 'i', jti, nowMs: under.nowMs() });
      return { ...under, claims };
    };

    test('counts each request once: of 200 at once exactly 60 are allowed', async () => {
      const { state, nowMs } = await open();
      const before = nowMs();
      const counted = await Promise.all(Array.from({ length: 200 }, () => state.countRequest('d')));
      const allowed = counted.filter((one) => one.allowed);
      expect(allowed).toHaveLength(60);
      expect(allowed.map(({ remaining }) => remaining).sort((a, b) => b - a)).toEqual(
        Array.from({ length: 60 }, (_, at) => 59 - at),
      );
      for (const { limit, resetAtMs } of counted) {
        expect(limit).toBe(60);
        expect(resetAtMs).toBeGreaterThanOrEqual(before + 59_000);
        expect(resetAtMs).toBeLessThanOrEqual(nowMs() + 61_000);
      }
      expect(await state.countRequest('other')).toMatchObject({ allowed: true, remaining: 59 });
    });

    test('looks without counting', async () => {
      const { state } = await open({}, 1);
      expect(await state.lookAtLimit('d')).toMatchObject({ allowed: true, remaining: 1 });
      await state.countRequest('d');
      expect(await state.lookAtLimit('d')).toMatchObject({ allowed: false, remaining: 0 });
    });

    /** Requests with limit 3, and after how many seconds each; `x` is refused. */
    test.each([
      ['first-request', [0, 0, 20, 0, 39, 2, 0], '...xx..'],
      ['sliding', [0, 0, 20, 0, 39, 2, 0, 0], '...xx..x'],
      ['token-bucket', [0, 0, 0, 0, 21, 0, 18, 21], '...x.xx.'],
      ['calendar-minute', [0, 0, 20, 0, 28, 3, 0, 0], '...xx...'],
    ] as const)('lets the requests of a window %s through in their time', async (window, waits, expected) => {
      const { state, nowMs } = await open({ rateLimit: { window } }, 3);
      // Ten seconds into a minute, so that calendar minutes are told from others.
      await state.advance(60_000 - (nowMs() % 60_000) + 10_000);
      let seen = '';
      for (const seconds of waits) {
        await state.advance(seconds * 1000);
        seen += (await state.countRequest('d')).allowed ? '.' : 'x';
      }
      expect(seen).toBe(expected);
    });

    test('counts refused requests if the dialect says so', async () => {
      const { state } = await open({ rateLimit: { window: 'sliding', counts: 'all' } }, 1);
      await state.countRequest('d');
      await state.advance(50_000);
      expect(await state.countRequest('d')).toMatchObject({ allowed: false });
      await state.advance(20_000);
      expect(await state.countRequest('d')).toMatchObject({ allowed: false });
    });

    test('says when a sliding window has room again, even if refused requests count', async () => {
      const { state, nowMs } = await open({ rateLimit: { window: 'sliding', counts: 'all' } }, 2);
      await state.countRequest('d');
      await state.advance(10_000);
      const second = nowMs();
      await state.countRequest('d');
      await state.advance(10_000);
      const third = await state.countRequest('d');
      // The last two requests count; the first of them is the second of all.
      expect(third).toMatchObject({ allowed: false, remaining: 0 });
      expect(third.retryAtMs).toBeGreaterThanOrEqual(second + 60_000);
      expect(third.retryAtMs).toBeLessThan(second + 65_000);
      await state.advance(third.retryAtMs - nowMs() + 1);
      expect(await state.countRequest('d')).toMatchObject({ allowed: true });
    });

    test('gives 10 slots to 50 connections at once, and a released slot to the next', async () => {
      const { state } = await open();
      const leases = await Promise.all(Array.from({ length: 50 }, () => state.leaseSlot('d')));
      const held = leases.filter((lease) => lease !== undefined);
      expect(held.map(({ connections }) => connections).sort((a, b) => a - b)).toEqual([
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
      ]);
      expect(await state.leaseSlot('other')).toMatchObject({ connections: 1 });
      held[0]?.release();
      held[0]?.release();
      await expect.poll(async () => (await state.leaseSlot('d'))?.connections).toBe(10);
      expect(await state.leaseSlot('d')).toBeUndefined();
    });

    test('uses up a token for one of 100 at once, and for as long as it could be presented again', async () => {
      const { state, claims } = await open({ token: { clockToleranceSeconds: 5 } });
      const token = claims();
      const spent = await Promise.all(Array.from({ length: 100 }, () => state.spendToken(token)));
      expect(spent.filter((isFirst) => isFirst)).toHaveLength(1);
      await state.advance(63_900);
      expect(await state.spendToken(token)).toBe(false);
    });

    test('lets a token be used again if the dialect says so', async () => {
      const { state, claims } = await open({ token: { singleUse: false } });
      const token = claims();
      expect([await state.spendToken(token), await state.spendToken(token)]).toEqual([true, true]);
    });

    test('shows windows, connections and tokens, until their time is over', async () => {
      const { state, claims, nowMs } = await open();
      const used = claims('d');
      const unused = claims('}{:é\n');
      for (const token of [used, unused]) {
        await state.countRequest(token.sub);
        await state.rememberIssued(token);
      }
      await state.countRequest('d');
      const lease = await state.leaseSlot('d');
      await state.spendToken(used);
      const { windows, connections, tokens } = await state.survey();
      expect(windows.map(({ device, requests }) => [device, requests]).sort()).toEqual([
        ['d', 2],
        ['}{:é\n', 1],
      ]);
      expect(windows[0]?.resetAtMs).toBeGreaterThan(nowMs() + 50_000);
      expect(connections).toEqual(new Map([['d', 1]]));
      expect(tokens).toEqual([
        { token: used, used: true },
        { token: unused, used: false },
      ]);
      lease?.release();
      await state.advance(61_000);
      await expect
        .poll(async () => await state.survey())
        .toEqual({ windows: [], connections: new Map(), tokens: [] });
    });

    test('forgets windows, tokens and journal; what was used or taken stays so', async () => {
      const { state, claims } = await open({}, 2, 1);
      const token = claims();
      await state.countRequest('d');
      await state.rememberIssued(token);
      await state.spendToken(token);
      await state.leaseSlot('d');
      state.journal.add({ t: 0, type: 'stopping' });
      await state.forget();
      expect(await state.survey()).toEqual({ windows: [], connections: new Map([['d', 1]]), tokens: [] });
      expect(await state.journal.read({}, 10)).toEqual([]);
      expect(await state.spendToken(token)).toBe(false);
      expect(await state.leaseSlot('d')).toBeUndefined();
    });

    test('moves the clock forward, and says how far', async () => {
      const { state, nowMs } = await open({}, 1);
      const before = nowMs();
      await state.countRequest('d');
      await state.advance(20_000);
      await state.advance(41_000);
      expect(state.clockOffset()).toBe(61_000);
      expect(nowMs() - before).toBeGreaterThanOrEqual(60_990);
      expect(await state.countRequest('d')).toMatchObject({ allowed: true });
    });

    test('remembers events in order, with numbers, and finds them by their subject', async () => {
      const { state } = await open();
      const { journal } = state;
      const followed: unknown[] = [];
      const stop = journal.follow({ device: 'd' }, (entry) => followed.push(entry));
      await state.survey();
      for (let at = 0; at < 1_200; at += 1) journal.add({ t: at, type: 'stopping' });
      journal.add({ t: 1_200, type: 'reply-started', stream: 7, device: 'd' });
      journal.add({ t: 1_201, type: 'reply-started', stream: 8, device: 'e' });
      const all = await journal.read({}, 10_000);
      expect(all).toHaveLength(1_202);
      expect(all.map(({ t }) => t)).toEqual(Array.from({ length: 1_202 }, (_, at) => at));
      const [first] = all;
      expect(all.map(({ seq }) => seq - (first?.seq ?? 0))).toEqual(all.map(({ t }) => t));
      expect((await journal.read({}, 2)).map(({ t }) => t)).toEqual([1_200, 1_201]);
      expect((await journal.read({ type: 'reply-started', device: 'e' }, 9)).map(({ t }) => t)).toEqual([
        1_201,
      ]);
      expect((await journal.read({ stream: 7 }, 9)).map(({ t }) => t)).toEqual([1_200]);
      expect((await journal.read({ since: all[1_199]?.seq }, 9)).map(({ t }) => t)).toEqual([1_200, 1_201]);
      await expect.poll(() => followed).toMatchObject([{ t: 1_200, seq: all[1_200]?.seq }]);
      stop();
      await journal.clear();
      expect(await journal.read({}, 10)).toEqual([]);
      journal.add({ t: 2_000, type: 'reply-started', stream: 7, device: 'd' });
      const [next] = await journal.read({}, 10);
      expect(next?.seq).toBe((all.at(-1)?.seq ?? 0) + 1);
      expect(followed).toHaveLength(1);
    });

    test('keeps the newest 10,000 events, and not more than 8 MB of them', async () => {
      const { state } = await open();
      const { journal } = state;
      for (let at = 0; at < 12_000; at += 1) journal.add({ t: at, type: 'stopping' });
      const many = await journal.read({}, 100_000);
      expect(many.length).toBeLessThanOrEqual(10_500);
      expect(many.length).toBeGreaterThanOrEqual(9_000);
      expect(many.at(-1)).toMatchObject({ t: 11_999 });
      const body = 'x'.repeat(1024 * 1024);
      for (let at = 0; at < 12; at += 1) {
        journal.add({ t: at, type: 'message-sent', stream: 1, device: 'd', body });
        await journal.read({ type: 'none' }, 1);
      }
      const big = await journal.read({ type: 'message-sent' }, 100);
      expect(big.length).toBeLessThanOrEqual(8);
      expect(big.length).toBeGreaterThanOrEqual(4);
      expect(big.at(-1)).toMatchObject({ t: 11 });
    });
  });
}

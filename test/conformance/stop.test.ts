import { expect, test } from 'vitest';
import { createStopWatch } from '../../src/conformance/stop.ts';
import type { TokenExchange } from '../../src/wire/exchange.ts';
import { answered } from '../helpers/service-exchanges.ts';

const refused: TokenExchange = {
  ...answered({ token: null }),
  answer: undefined,
  breakdown: { code: 'connect-failed', message: 'Nobody listens' },
};

test.each<[when: string, exchanges: TokenExchange[], stopped: string | undefined]>([
  ['the first one of all stops the run', [refused], 'connect-failed'],
  ['one in the middle of a run does not stop it', [answered(), refused, answered({ at: 2_000 })], undefined],
  ['a second one does', [answered(), refused, refused], 'connect-failed'],
])('of connections that fail %s', (_when, exchanges, code) => {
  const watch = createStopWatch({ isKeyMadeUp: false });
  exchanges.forEach((exchange, index) => void watch.look({ id: `E${index + 1}`, exchange }));
  expect(watch.stopped?.code).toBe(code);
});

import { expect, test } from 'vitest';
import { inferDialect } from '../../../src/conformance/learn/infer.ts';
import { answered } from '../../helpers/service-exchanges.ts';

test.each([
  ['none beside those of the specification', {}, []],
  [
    'those of every HTTP server',
    { 'content-length': '20', Connection: 'keep-alive', 'Keep-Alive': 'timeout=5', Server: 'aiohttp' },
    [],
  ],
  [
    'those of a gateway',
    { Server: 'gate', 'Content-Encoding': 'gzip', 'X-Request-Id': '1' },
    ['answers with a token have headers that an emulator does not send: Content-Encoding, X-Request-Id'],
  ],
])(
  'headers of an answer with a token are named unless an emulator sends them: %s',
  (_what, headers, named) => {
    const seen = ['E1', 'E2'].map((id, at) => ({ id, exchange: answered({ at: at * 500, headers }) }));
    const { remarks } = inferDialect(seen, 10_000);
    expect(remarks.filter((text) => text.includes('headers'))).toEqual(named);
  },
);

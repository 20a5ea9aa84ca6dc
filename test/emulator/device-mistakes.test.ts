import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { streamPath } from '../../src/protocol/paths.ts';
import { emulatorLines } from '../../src/report/emulator-lines.ts';
import { createStyle } from '../../src/report/style.ts';
import { type RunningEmulator, setUpEmulators } from '../helpers/emulators.ts';
import { eventually } from '../helpers/eventually.ts';
import { createManualClock, type ManualClock } from '../helpers/manual-clock.ts';
import { httpRequest, rawHttp } from '../helpers/raw-http.ts';

const startEmulator = setUpEmulators();
const device = 'kitchen-1';

interface Stage {
  emulator: RunningEmulator;
  clock: ManualClock;
}
interface Mistake {
  options?: EmulatorOptions;
  make(stage: Stage): Promise<unknown>;
}

const post = (body: string, type = 'application/json') => ({
  make: ({ emulator }: Stage) =>
    rawHttp(
      emulator.port,
      httpRequest(
        [
          'POST /api/websocket-voice/token HTTP/1.1',
          'Host: 127.0.0.1',
          `Content-Type: ${type}`,
          `Content-Length: ${body.length}`,
          'Connection: close',
        ],
        body,
      ),
    ),
});

/** Opens a stream whose first message is made of a token. */
const first = (wrap: (token: string) => string | Buffer, options: EmulatorOptions = {}): Mistake => ({
  options,
  async make({ emulator }) {
    const client = emulator.open();
    const token = await emulator.token(device);
    await client.opened;
    await client.send(wrap(token));
  },
});

/** Opens a stream, presents nothing, and lets 2 s pass. */
const waits = (place: { query?: string; header?: string } = {}, audio = 0): Mistake => ({
  async make({ emulator, clock }) {
    const token = await emulator.token(device);
    const { query, header } = place;
    const url = emulator.wsUrl + streamPath + (query === undefined ? '' : `?${query}=${token}`);
    const socket = new WebSocket(url, {
      headers: header === undefined ? {} : { [header]: `Bearer ${token}` },
    });
    await once(socket, 'open');
    for (let at = 0; at < audio; at += 1) socket.send(Buffer.alloc(640));
    await answered(socket);
    clock.advance(2_000);
    socket.terminate();
  },
});

/** Resolves when the emulator has taken all that was sent before. */
const answered = (socket: WebSocket) =>
  new Promise((resolve) => {
    socket.once('pong', resolve);
    socket.ping();
  });

const alter = (token: string, part: number, change: (text: string) => string) =>
  token
    .split('.')
    .map((text, at) => (at === part ? change(text) : text))
    .join('.');

const tokenRequests: Record<string, Mistake> = {
  'the request has no `apiKey`': post(`{"deviceId":"${device}"}`),
  'the request has no `deviceId`': post('{"apiKey":"k"}'),
  'the body is a form': post('apiKey=k&deviceId=d', 'application/x-www-form-urlencoded'),
  'the body is cut off': post(`{"apiKey":"k","deviceId":"${device}`),
  'the API key is wrong': {
    options: { acceptKeys: ['right'] },
    make: ({ emulator }) => emulator.requestToken(device, { apiKey: 'wrong' }),
  },
  'the request is a GET': {
    make: ({ emulator }) => fetch(`${emulator.baseUrl}/api/websocket-voice/token`),
  },
  'a token is requested too often': {
    options: { rateLimit: 2 },
    async make({ emulator }) {
      for (const _ of [1, 2, 3]) await emulator.requestToken(device);
    },
  },
};

const tokens: Record<string, Mistake> = {
  'the token is wrapped in JSON': first((token) => JSON.stringify({ token })),
  'the token is in quotes': first((token) => `"${token}"`),
  'the token comes after `Bearer `': first((token) => `Bearer ${token}`),
  'the token ends with a line break': first((token) => `${token}\n`),
  'the token is cut off': first((token) => token.slice(0, 64)),
  'the first message is JSON without a token': first(() => '{"type":"start"}'),
  'the first message is something else': first(() => 'hello'),
  'the token is a binary message': first((token) => Buffer.from(token)),
  'the token is in the URL': waits({ query: 'token' }),
  'the token is in a header': waits({ header: 'Authorization' }),
  'the device waits for the service to speak first': waits(),
  'audio comes instead of a token': waits({}, 3),
  'the token is of another emulator': {
    async make({ emulator }) {
      const other = await startEmulator();
      const token = await other.token(device);
      const client = emulator.open();
      await client.opened;
      await client.send(token);
    },
  },
  'the signature is altered': first((token) =>
    alter(token, 2, (text) => `${text[0] === 'A' ? 'B' : 'A'}${text.slice(1)}`),
  ),
  'the claims are altered': first((token) =>
    alter(token, 1, (text) =>
      Buffer.from(Buffer.from(text, 'base64url').toString().replace('kitchen-1', 'kitchen-2')).toString(
        'base64url',
      ),
    ),
  ),
  'the token has expired': {
    async make({ emulator, clock }) {
      const token = await emulator.token(device);
      clock.advance(61_200);
      const client = emulator.open();
      await client.opened;
      await client.send(token);
    },
  },
  'the token is not valid yet': first((token) => token, { faults: ['token-future'] }),
  'the token was used before': {
    async make({ emulator }) {
      const token = await emulator.token(device);
      for (const _ of [1, 2]) {
        const client = emulator.open();
        await client.opened;
        await client.send(token);
        await Promise.race([client.connected.catch(() => {}), client.closed]);
      }
    },
  },
  'one connection too many': {
    options: { maxConnections: 1 },
    async make({ emulator }) {
      await emulator.connect(device);
      await first((token) => token).make({ emulator } as Stage);
    },
  },
};

const mistakes: Record<string, Mistake> = { ...tokenRequests, ...tokens };

/** The rows of the tables in the documentation: the mistake, and the line as it is to be. */
const page = readFileSync(new URL('../../docs/DEVICE-MISTAKES.md', import.meta.url), 'utf8');
const rows = [...page.matchAll(/^\| (?!mistake|---)(.+?) \| `(.+)` \|$/gm)].map(
  ([, mistake = '', line = '']) => [mistake, line] as const,
);

const plain = createStyle(false);
const pattern = (line: string) =>
  new RegExp(
    `^ *[\\d.]+ s? *${line
      .split('…')
      .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.+?')}$`,
  );

test('every mistake of the page is made here, and every one that is made here stands on the page', () => {
  expect(rows.map(([mistake]) => mistake).toSorted()).toEqual(Object.keys(mistakes).toSorted());
  expect(rows.length).toBeGreaterThanOrEqual(24);
});

describe('a device mistake', () => {
  test.each(rows)('is told in words: %s', async (mistake, line) => {
    const { make, options = {} } = mistakes[mistake] as Mistake;
    const clock = createManualClock();
    const emulator = await startEmulator({ reply: 'silence', clock, ...options });
    const lines = () => emulator.events.flatMap((event) => emulatorLines(event, plain));
    const wanted = pattern(line);
    await make({ emulator, clock });
    await eventually(lines).toContainEqual(expect.stringMatching(wanted));
    const told = emulator.events.filter((event) =>
      emulatorLines(event, plain).some((text) => wanted.test(text)),
    );
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({ level: 'warning' });
  });
});

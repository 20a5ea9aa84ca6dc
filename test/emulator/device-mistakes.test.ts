import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { streamPath } from '../../src/protocol/paths.ts';
import { emulatorLines } from '../../src/report/emulator-lines.ts';
import { createStyle } from '../../src/report/style.ts';
import { encodings, speechPcm, wavFile } from '../helpers/device-audio.ts';
import { type RunningEmulator, setUpEmulators } from '../helpers/emulators.ts';
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
  'a token is requested again at once': {
    options: { rateLimit: 2 },
    async make({ emulator, clock }) {
      for (const _ of [1, 2, 3]) await emulator.requestToken(device);
      clock.advance(1_000);
      await emulator.requestToken(device);
    },
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
  'the token comes from another emulator': {
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

interface Sending {
  /** Bytes of a message, and milliseconds from one to the next, by its index. */
  bytes?: number;
  every?: (index: number) => number;
}

/** Connects, and sends audio as a device would, on a clock that the test moves. */
const sends = (pcm: () => Buffer, { bytes = 640, every = () => 20 }: Sending = {}): Mistake => ({
  async make({ emulator, clock }) {
    const { socket } = await emulator.connect(device);
    const audio = pcm();
    for (let at = 0, index = 0; at < audio.length; at += bytes, index += 1) {
      socket.send(audio.subarray(at, at + bytes));
      await answered(socket);
      clock.advance(every(index));
    }
  },
});
/** Sends speech at the pace at which another rate would come. */
const atRate = (rate: number) =>
  sends(() => Buffer.concat([speechPcm, speechPcm]), { every: () => (20 * 16_000) / rate });
/** Sends samples of another size, in real time. */
const sized = (pcm: () => Buffer, size: number) => sends(pcm, { bytes: 320 * size });
const texts = (text: string): Mistake => ({
  async make({ emulator }) {
    const { socket } = await emulator.connect(device);
    for (const _ of [1, 2, 3]) socket.send(text);
    await answered(socket);
  },
});

/** Sends audio at once after its token. The clock of the token's verification is that of the test. */
const startsEarly: Mistake = {
  async make({ emulator }) {
    const client = emulator.open();
    const token = await emulator.token(device);
    await client.opened;
    client.socket.send(token);
    for (let at = 0; at < 3; at += 1) client.socket.send(speechPcm.subarray(at * 640, at * 640 + 640));
    await client.connected;
  },
};

const inBase64 = speechPcm.subarray(20_000, 20_640).toString('base64');
const inNumbers = Array.from({ length: 320 }, (_, at) => speechPcm.readInt16LE(20_000 + 2 * at));
const audio: Record<string, Mistake> = {
  'audio comes before the confirmation': startsEarly,
  'a WAV file with its header': sends(() => wavFile),
  'an Ogg file': sends(() => Buffer.concat([Buffer.from('OggS'), Buffer.alloc(2_000, 0x5a)])),
  'base64 in binary messages': sends(() => Buffer.from(inBase64.repeat(3)), { bytes: inBase64.length }),
  'base64 in text messages': texts(inBase64),
  'JSON with base64 in it': texts(JSON.stringify({ type: 'audio', data: inBase64 })),
  'JSON with lists of samples': texts(JSON.stringify({ type: 'audio', data: inNumbers })),
  '32-bit float': sized(encodings.float32, 4),
  '32-bit integers': sized(encodings.int32, 4),
  'stereo with a silent channel': sized(encodings.halfEmpty, 4),
  '24-bit integers': sized(encodings.int24, 3),
  '16-bit samples in 24 bits': sized(encodings.paddedTo24, 3),
  'unsigned 16-bit integers': sized(encodings.unsigned16, 2),
  'unsigned 8-bit integers': sized(encodings.unsigned8, 1),
  'signed 8-bit integers': sized(encodings.signed8, 1),
  'G.711 µ-law': sized(encodings.mulaw, 1),
  'G.711 A-law': sized(encodings.alaw, 1),
  'big-endian samples': sized(encodings.swapped, 2),
  'one byte too many at the start': sends(encodings.shifted),
  'a header before the samples of each message': sends(encodings.framed, { bytes: 652 }),
  stereo: sized(encodings.stereo, 4),
  'audio that clips': sends(encodings.clipped),
  'samples that are not centred on zero': sends(encodings.offset),
  'messages of 641 bytes': sends(() => speechPcm.subarray(0, 6_410), { bytes: 641 }),
  'a microphone that is off': sends(() => Buffer.alloc(32_000 * 6)),
  'very quiet audio': sends(() => Buffer.concat([encodings.quiet(), encodings.quiet()])),
  '44.1 kHz': atRate(44_100),
  '48 kHz': atRate(48_000),
  '24 kHz': atRate(24_000),
  '8 kHz': atRate(8_000),
  '16 kHz at double pace': atRate(32_000),
  'a file that is sent faster than real time': atRate(27_200),
  'a clock that is slow': atRate(12_800),
  'a second of audio at once, then nothing for a second': sends(() => speechPcm, {
    every: (index) => (index % 50 === 49 ? 1_000 : 0),
  }),
  'text after the token': texts('hello'),
};

/** Opens a stream with a client of which one thing is changed; the service closes it with 1012. */
const closing = (meet: (socket: WebSocket) => void): Mistake => ({
  async make({ emulator }) {
    const { socket } = await emulator.connect(device);
    // ws answers a close frame by a call of `close`.
    const { close } = socket;
    socket.close = (...given) => {
      meet(socket);
      if (socket.readyState === WebSocket.OPEN) close.apply(socket, given);
    };
    emulator.control.close({}, 1012, '');
  },
});

const connections: Record<string, Mistake> = {
  'pings are not answered': {
    async make({ emulator, clock }) {
      const { socket } = await emulator.connect(device);
      socket.pong = () => {};
      clock.advance(15_000);
      await answered(socket);
      clock.advance(15_000);
    },
  },
  'a close is not answered': closing((socket) => socket.terminate()),
  'audio goes on after a close': closing((socket) => socket.send(Buffer.alloc(32_000))),
};

const mistakes: Record<string, Mistake> = { ...tokenRequests, ...tokens, ...audio, ...connections };

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

test('every mistake on the page is made here, and every mistake made here is on the page', () => {
  expect(rows.map(([mistake]) => mistake).toSorted()).toEqual(Object.keys(mistakes).toSorted());
  expect(rows.length).toBeGreaterThanOrEqual(24);
});

describe('a device mistake', () => {
  test.each(rows)('is reported in words: %s', async (mistake, line) => {
    const { make, options = {} } = mistakes[mistake] as Mistake;
    const clock = createManualClock();
    const emulator = await startEmulator({ reply: 'silence', clock, ...options });
    const lines = () => emulator.events.flatMap((event) => emulatorLines(event, plain));
    const wanted = pattern(line);
    await make({ emulator, clock });
    await expect.poll(lines).toContainEqual(expect.stringMatching(wanted));
    const told = emulator.events.filter((event) =>
      emulatorLines(event, plain).some((text) => wanted.test(text)),
    );
    // Each text is told of by itself.
    if (mistake !== 'text after the token') expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({ level: 'warning' });
  });
});

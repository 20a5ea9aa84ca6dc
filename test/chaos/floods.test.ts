import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import {
  type ClientFlood,
  type Flood,
  type FloodReport,
  floodedPlaces,
  givenBackBytes,
  sendClientFlood,
  sendFlood,
} from './floods.ts';

// `npm run floods` sends all floods at full size. Each part of a sample is still more than may be kept.
const share = Number(process.env.FLOOD_SHARE ?? 0.02);
const isWhole = share === 1;
const isLinux = existsSync('/proc/self/clear_refs');
if (!isLinux) console.warn('NOT CHECKED: there is no /proc here; the floods are left out');

const MiB = 1024 * 1024;
/** Messages in one buffer, so that sending them takes this process no time. */
const atOnce = 5_000;

/** A frame as its side sends it: from a device with a mask, which is zero. */
function frame(first: number, payload: Buffer, isMasked: boolean, bytes = payload.length): Buffer {
  const head = bytes < 126 ? Buffer.of(first, bytes) : Buffer.of(first, 127, 0, 0, 0, 0, 0, 0, 0, 0);
  if (bytes >= 126) head.writeUInt32BE(bytes, 6);
  if (isMasked) head[1] = (head[1] as number) | 0x80;
  return Buffer.concat([head, Buffer.alloc(isMasked ? 4 : 0), payload]);
}

const many = (first: number, payload: Buffer) => (isMasked: boolean) =>
  Buffer.concat(Array<Buffer>(atOnce).fill(frame(first, payload, isMasked)));
const text = Buffer.from(JSON.stringify({ type: 'status', text: 'x'.repeat(4 * MiB) }));

const [texts, unfinished] = isWhole ? [60, 20] : [12, 4];
const floods: Flood[] = [
  { name: '1,500,000 empty messages', streams: 1, piece: many(0x82, Buffer.alloc(0)), times: 300 * share },
  { name: '500,000 empty texts', streams: 1, piece: many(0x81, Buffer.alloc(0)), times: 100 * share },
  { name: '500,000 pings', streams: 1, piece: many(0x89, Buffer.alloc(0)), times: 100 * share },
  {
    name: `${texts} texts of 4 MiB`,
    streams: 1,
    piece: (isMasked) => frame(0x81, text, isMasked),
    times: texts,
  },
  {
    name: `${unfinished} unfinished messages of 15 MiB`,
    streams: unfinished,
    piece: (isMasked) => frame(0x82, Buffer.alloc(15 * MiB), isMasked, 15 * MiB + 1),
    times: 1,
  },
  {
    name: '150 floods on a bad network',
    streams: 150,
    piece: (isMasked) => frame(0x82, Buffer.alloc(MiB), isMasked),
    times: 2,
    args: ['--network', 'latency=1ms'],
    fault: { name: 'network', loss: 0.9 },
    ms: 4_000,
    // Ending a stream takes up to 51 s for each side.
    restMs: 110_000,
  },
];

/** The sum of what may be kept of unfinished messages, wait for slow readers, be in transit on a bad network, and the rest. */
const budgetMB = 34;
const waitingMB = 34;
const airMB = 22;
const besideMB = givenBackBytes / 1e6;

const reports: FloodReport[] = [];
afterAll(() => {
  const signed = (value: number) => `${value < 0 ? '' : '+'}${value.toFixed(1)}`;
  const rows = reports.map(({ ends, before, atMost, after, resident, restMs, ...rest }) => ({
    ...rest,
    before: before.toFixed(1),
    'at most': signed(atMost),
    after: signed(after),
    resident: signed(resident),
    'given back s': (restMs / 1_000).toFixed(0),
    ends: JSON.stringify(ends),
  }));
  console.table(rows);
});

const chosen = floods.filter(({ fault }) => isWhole || fault === undefined);

describe.skipIf(!isLinux).each(chosen)('$name', (flood) => {
  // Each flood at one place, and each place with a flood, unless all are requested.
  const place = chosen.indexOf(flood) % floodedPlaces.length;
  test.each(isWhole ? floodedPlaces : floodedPlaces.slice(place, place + 1))(
    '%s: memory stays within its budget',
    async (place) => {
      const report = await sendFlood(place, flood);
      reports.push(report);
      const onBadNetwork = flood.fault === undefined ? 0 : waitingMB + airMB;
      expect.soft(report.atMost).toBeLessThan(budgetMB + onBadNetwork + besideMB);
      expect.soft(report.after).toBeLessThan(besideMB);
    },
    300_000,
  );
});

/** Resolves when the system has accepted it. */
const sendAll = (stream: WebSocket, message: string | Buffer) =>
  new Promise<void>((resolve, reject) =>
    stream.send(message, (error) => (error ? reject(error) : resolve())),
  );
const long = 'x'.repeat(4 * MiB);
const temporary = mkdtempSync(join(tmpdir(), 'floods-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));
const speech = (baseUrl: string) => ['stream', '--file', 'hello.wav', '--loop', '--base-url', baseUrl];
const manyTexts = (make: (at: number) => object) => async (stream: WebSocket) => {
  for (let at = 0; at < Math.max(14, 150 * share); at += 1) await sendAll(stream, JSON.stringify(make(at)));
};

/** How much of an endless answer is sent in a sample: more than may be kept. */
const endlessMiB = isWhole ? Number.POSITIVE_INFINITY : 100;
const clientFloods: ClientFlood[] = [
  { name: '150 kinds of 4 MB', args: speech, onStream: manyTexts((at) => ({ type: `${at}${long}` })) },
  {
    name: '150 transcripts of 4 MB',
    args: speech,
    onStream: manyTexts((at) => ({ type: 'transcript', role: 'assistant', text: `${at}${long}` })),
  },
  {
    name: 'three files of 100 MB of audio',
    args: (baseUrl) => [
      ...speech(baseUrl),
      ...['--record', join(temporary, 'audio'), '--out', join(temporary, 'audio.wav')],
      ...['--record-both', join(temporary, 'both.wav')],
    ],
    async onStream(stream) {
      for (let at = 0; at < Math.max(50, 100 * share); at += 1) await sendAll(stream, Buffer.alloc(MiB));
    },
  },
  {
    name: '--record of 150 kinds of 4 MB',
    args: (baseUrl) => [...speech(baseUrl), '--record', join(temporary, 'kinds')],
    onStream: manyTexts((at) => ({ type: `${at}${long}` })),
  },
  {
    name: '--interactive < /dev/zero',
    args: (baseUrl) => ['stream', '--interactive', '--base-url', baseUrl],
    stdin: '/dev/zero',
    onStream: (stream) => once(stream, 'close').then(() => {}),
  },
  ...['state', 'journal', 'journal --follow', 'clock', 'reset', 'close'].map(
    (command): ClientFlood => ({
      name: `emulator ${command}, an endless answer`,
      args: (baseUrl) => ['emulator', ...command.split(' '), '--base-url', baseUrl],
      async onRequest(response) {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        const chunk = Buffer.alloc(MiB, ' ');
        for (let sent = 0; !response.destroyed && sent < endlessMiB; sent += 1)
          if (!response.write(chunk)) await once(response, 'drain');
      },
    }),
  ),
];

/** What may wait between two parts of a client, and one message that is being read. */
const clientBudgetMB = 40;

/** One of each kind, unless all are requested. */
const chosenOfClient = clientFloods.filter(
  ({ name }) => isWhole || /^150 kinds|^--interactive|^emulator (state|journal --follow)/.test(name),
);

describe.skipIf(!isLinux).each(chosenOfClient)('client: $name', (flood) => {
  test('memory stays within its budget', async () => {
    const report = await sendClientFlood(flood, isWhole ? 8_000 : 2_000);
    reports.push(report);
    expect.soft(report.atMost).toBeLessThan(clientBudgetMB + besideMB);
    expect.soft(report.after).toBeLessThan(clientBudgetMB + besideMB);
    expect(report.ends).not.toHaveProperty('70');
  }, 120_000);
});

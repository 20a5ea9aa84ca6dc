import { existsSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { type Flood, type FloodReport, floodedPlaces, sendFlood } from './floods.ts';

// `npm run floods` sends them whole, and all of them.
const share = Number(process.env.FLOOD_SHARE ?? 0.02);
const isLinux = existsSync('/proc/self/clear_refs');
if (!isLinux) console.warn('NOT CHECKED: there is no /proc here; the floods are left out');

const MiB = 1024 * 1024;
/** Messages in one piece, so that to send them takes this process no time. */
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

const floods: Flood[] = [
  { name: '1,500,000 empty messages', streams: 1, piece: many(0x82, Buffer.alloc(0)), times: 300 * share },
  { name: '500,000 empty texts', streams: 1, piece: many(0x81, Buffer.alloc(0)), times: 100 * share },
  { name: '500,000 pings', streams: 1, piece: many(0x89, Buffer.alloc(0)), times: 100 * share },
  { name: '60 texts of 4 MiB', streams: 1, piece: (isMasked) => frame(0x81, text, isMasked), times: 60 },
  {
    name: '20 unfinished messages of 15 MiB',
    streams: 20,
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
  },
];

/** What may be kept of unfinished messages, wait for slow readers, be under way on a bad network, and beside it. */
const budgetMB = 34;
const waitingMB = 34;
const airMB = 22;
const besideMB = 10;

const reports: FloodReport[] = [];
afterAll(() => {
  const signed = (value: number) => `${value < 0 ? '' : '+'}${value.toFixed(1)}`;
  const rows = reports.map(({ ends, before, atMost, after, resident, ...rest }) => ({
    ...rest,
    before: before.toFixed(1),
    'at most': signed(atMost),
    after: signed(after),
    resident: signed(resident),
    ends: JSON.stringify(ends),
  }));
  console.table(rows);
});

const chosen = floods.filter(({ fault }) => share === 1 || fault === undefined);

describe.skipIf(!isLinux).each(chosen)('$name', (flood) => {
  test.each(floodedPlaces)(
    '%s: memory stays within its budget',
    async (place) => {
      const report = await sendFlood(place, flood);
      reports.push(report);
      const onBadNetwork = flood.fault === undefined ? 0 : waitingMB + airMB;
      expect.soft(report.atMost).toBeLessThan(budgetMB + onBadNetwork + besideMB);
      // Packets of a bad network are under way for up to a minute.
      expect.soft(report.after).toBeLessThan(onBadNetwork + besideMB);
    },
    300_000,
  );
});

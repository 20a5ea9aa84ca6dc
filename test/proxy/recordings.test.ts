import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createEmulator } from '../../src/emulator/emulator.ts';
import { readRecording } from '../../src/recording/read-recording.ts';
import { createStyle } from '../../src/report/style.ts';
import { timelineLines } from '../../src/report/timeline-lines.ts';

import { runInProcess } from '../helpers/in-process.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { startMiniService } from '../helpers/mini-service.ts';
import { converse, framesOf, goodDevice } from '../helpers/proxied-device.ts';
import { setUpProxies } from '../helpers/proxies.ts';
import { setUpServices } from '../helpers/services.ts';

const services = setUpServices();
const startProxy = setUpProxies();
/** A real disk that is full needs the right to mount one. */
const canMount = process.platform === 'linux' && process.getuid?.() === 0;
if (!canMount)
  console.warn('NOT CHECKED: only root can mount a small disk; a recording on a full one is left out');
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'voicectl-proxy-'));
  folders.push(folder);
  return folder;
}

/** Everything in the files of a folder. */
function contents(folder: string): string {
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n');
}

describe('a proxy that records', () => {
  test('joins no key in the transcript that comes in pieces', async () => {
    const record = newFolder();
    await using service = await startMiniService({
      connected({ say }) {
        say({ type: 'service_voice_connected' });
        for (const delta of ['your key is a-long-', 'key-1']) say({ type: 'transcript.delta', delta });
      },
    });
    const proxy = await startProxy(service, { record });
    await converse(proxy, {
      request: (fields) => ({ body: JSON.stringify({ ...fields, apiKey: 'a-long-key-1' }) }),
    });
    await proxy.close();
    const [name = ''] = readdirSync(record);
    const { summary } = await readRecording(join(record, name));
    expect(summary?.transcript).toMatchObject([{ text: 'your key is [redacted]' }]);
  });

  test.each([
    ['path', '/voice-stream/'],
    ['query', '/voice-stream?access=Bearer%20'],
  ])('writes no token that a device puts into the %s of the upgrade', async (_where, before) => {
    const record = newFolder();
    const signature = 'c2lnbmF0dXJlLXRoYXQtZ3JhbnRzLWFjY2Vzcw';
    const proxy = await startProxy({ wsUrl: await services.ws(() => {}) }, { record });
    const token = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJsYW1wIn0.${signature}`;
    const device = new WebSocket(proxy.wsUrl + before + token);
    await once(device, 'open');
    device.close(1000);
    await once(device, 'close');
    await proxy.close();
    const [name = ''] = readdirSync(record);
    const text = contents(join(record, name));
    expect(text).toContain(`${before}[redacted]`);
    expect(text).not.toContain(signature);
  });

  test('writes one recording per stream, without key and token, which inspect and replay can read', async () => {
    const record = newFolder();
    await using emulator = await createEmulator({ reply: 'echo' });
    const proxy = await startProxy(emulator, { record });
    let token = '';
    await converse(proxy, {
      times: 2,
      audio: [...goodDevice.audio, 'a text'],
      present(given) {
        token = given;
        return given;
      },
    });
    await proxy.close();
    const names = readdirSync(record).toSorted();
    expect(names).toEqual([expect.stringMatching(/Z-1-lamp$/), expect.stringMatching(/Z-2-lamp$/)]);
    const folder = join(record, names[0] ?? '');
    const recording = await readRecording(folder);
    expect(recording.problems).toEqual([]);
    expect(recording.manifest).toMatchObject({ schema: 2, device: 'lamp', baseUrl: emulator.baseUrl });
    const first = recording.wire.find((line) => line.type === 'audio' && line.direction === 'out');
    const at = first?.type === 'audio' ? first.at : -1;
    expect(recording.audio.out.subarray(at, at + 640).equals(goodDevice.audio[0] as Buffer)).toBe(true);
    const kinds = recording.wire.map((line) =>
      'direction' in line ? `${line.type} ${line.direction}` : line.type,
    );
    expect(kinds.slice(0, 4)).toEqual(['token-request', 'upgrade', 'token', 'text in']);
    expect(kinds).toEqual(expect.arrayContaining(['audio out', 'audio in', 'text out', 'close']));
    expect(recording.events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['session', 'token', 'message', 'close']),
    );
    expect(recording.summary).toMatchObject({ device: 'lamp', close: { code: 1000 }, out: { frames: 20 } });
    for (const name of names) {
      const text = contents(join(record, name));
      expect(text).not.toContain('key-1');
      expect(text).not.toContain(token.split('.')[2]);
    }
    const inspected = await runInProcess(['inspect', folder, '--json']);
    expect(inspected).toMatchObject({ code: 0 });
    await using replayed = await createEmulator({ reply: `replay:${folder}` });
    await converse(replayed);
  });

  test('shows the violations of both sides on the time axis', async () => {
    const record = newFolder();
    await using emulator = await createEmulator({ reply: 'silence', faults: ['connected-late:delay=300ms'] });
    const proxy = await startProxy(emulator, { record });
    await converse(proxy, { early: framesOf(Buffer.alloc(1_280)) });
    await proxy.close();
    const [name = ''] = readdirSync(record);
    const { events, summary, durationMs } = await readRecording(join(record, name));
    const told = events.find((event) => event.type === 'warning');
    expect(told).toMatchObject({
      code: 'D4',
      side: 'device',
      message: expect.stringContaining('before the confirmation'),
    });
    expect(summary).toMatchObject({ ok: false, verdicts: [{ name: 'device D4', ok: false }] });
    const peaks = { out: Array(40).fill(0), in: Array(40).fill(0) };
    const picture = {
      events,
      durationMs,
      turns: [],
      dialogue: { overlaps: [], turns: [], noises: [], remarks: [] },
      gaps: [],
      sounds: [],
      peaks,
    };
    expect(timelineLines(picture, { ascii: true, style: createStyle(false) }).join('\n')).toContain(
      'd device violation',
    );
  });

  test('records a close when it comes, however late the device answers it', async () => {
    const record = newFolder();
    const clock = createManualClock();
    const peers: WebSocket[] = [];
    const proxy = await startProxy(
      { wsUrl: await services.ws((peer) => peers.push(peer.on('message', () => peer.send('{}')))) },
      { record, clock },
    );
    const device = new WebSocket(`${proxy.wsUrl}/voice-stream`);
    await once(device, 'open');
    device.send('a.b.c');
    await once(device, 'message');
    device.close = () => {};
    const { _receiver: receiver } = device as unknown as { _receiver: NodeJS.EventEmitter };
    const concluded = once(receiver, 'conclude');
    clock.advance(1_000);
    peers[0]?.close(4001);
    await concluded;
    clock.advance(1_800);
    WebSocket.prototype.close.call(device, 4001);
    await once(device, 'close');
    await proxy.close();
    expect(proxy.events.find(({ type }) => type === 'stream-closed')).toMatchObject({ durationMs: 1_000 });
    const [name = ''] = readdirSync(record);
    const { wire } = await readRecording(join(record, name));
    expect(wire.at(-1)).toMatchObject({ type: 'close', by: 'service', code: 4001, t: 1_000 });
  });

  test.skipIf(!canMount)(
    'goes on with the stream when the disk is full, and what it wrote is readable',
    async ({ skip }) => {
      const record = newFolder();
      const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', record]);
      if (status !== 0) skip('NOT CHECKED: no small disk can be mounted here');
      try {
        await using emulator = await createEmulator({ reply: 'echo' });
        const proxy = await startProxy(emulator, { record });
        const audio = Array.from({ length: 10 }, () => goodDevice.audio).flat();
        await converse(proxy, { audio });
        await proxy.close();
        const failed = proxy.events.filter(({ type }) => type === 'recording-failed');
        expect(failed).toMatchObject([{ why: expect.stringContaining('the disk is full') }]);
        expect(proxy.events.find(({ type }) => type === 'stream-closed')).toMatchObject({
          code: 1000,
          framesIn: 200,
        });
        const [name = ''] = readdirSync(record);
        expect((await readRecording(join(record, name))).audio.out.length).toBeGreaterThan(640);
      } finally {
        spawnSync('umount', [record]);
      }
    },
  );

  test.skipIf(!existsSync('/proc/self'))('refuses a folder that cannot be created', async () => {
    await using emulator = await createEmulator();
    await expect(startProxy(emulator, { record: '/proc/voicectl' })).rejects.toMatchObject({
      code: 'input-output',
      message: expect.stringContaining('Cannot write /proc/voicectl'),
    });
  });

  test('creates parent folders', async () => {
    const record = join(newFolder(), 'a', 'b');
    await using emulator = await createEmulator({ reply: 'echo' });
    const proxy = await startProxy(emulator, { record });
    await converse(proxy);
    await proxy.close();
    expect(readdirSync(record)).toHaveLength(1);
  });

  test('continues the stream if the recording fails, with one warning', async () => {
    const record = newFolder();
    await using emulator = await createEmulator({ reply: 'echo' });
    const proxy = await startProxy(emulator, { record });
    rmSync(record, { recursive: true });
    await converse(proxy);
    await proxy.close();
    expect(proxy.events.filter(({ type }) => type === 'recording-failed')).toHaveLength(1);
    expect(proxy.events.find(({ type }) => type === 'stream-closed')).toMatchObject({
      code: 1000,
      framesIn: 20,
    });
  });
});

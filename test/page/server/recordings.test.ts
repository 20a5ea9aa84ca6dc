import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { createPage } from '../../../src/page/server/create-page.ts';
import { createRecordings } from '../../../src/page/server/recordings.ts';
import { tokenPath } from '../../../src/protocol/paths.ts';
import { type Recording, readRecording } from '../../../src/recording/read-recording.ts';
import type { ObserveStream, PageHost } from '../../../src/service/control/page-handler.ts';
import { createCountedClock } from '../../helpers/counted-clock.ts';
import { setUpEmulators } from '../../helpers/emulators.ts';
import { headers, look, token } from '../../helpers/page-tab.ts';
import { framesOf, speech } from '../../helpers/pcm.ts';
import { setUpProxies } from '../../helpers/proxies.ts';
import { openStream } from '../../helpers/stream-client.ts';
import { modesOf, readTar } from '../../helpers/tar.ts';

const startEmulator = setUpEmulators();
const startProxy = setUpProxies();
const folders: string[] = [];
afterEach(() => {
  vi.unstubAllEnvs();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const facts = { baseUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1', isDefault: true, curl: '' };

test('a recording from the page is the same as one with --record', async () => {
  const record = newFolder();
  const emulator = await startEmulator({ reply: 'echo', faults: ['connected-late:delay=300ms'] });
  const { baseUrl, wsUrl } = emulator;
  const proxy = await startProxy(emulator, {
    record,
    page: createPage(() => ({ ...facts, target: { baseUrl, wsUrl } }), { token }),
  });
  const tab = await look(proxy);
  const device = openStream(proxy.wsUrl);
  await device.opened;
  await fetch(`${proxy.baseUrl}/__voicectl/page/recordings/start`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ stream: 1 }),
  });
  await device.send(await emulator.token('lamp'));
  // Too early: the device breaks a rule.
  for (const frame of framesOf(speech(100))) await device.send(frame);
  await device.until(() => device.audio.length >= 3_200);
  device.socket.close(1000);
  await tab.until(() => tab.state()?.recordings.find(({ end }) => end === 'closed'));
  const archive = await fetch(`${proxy.baseUrl}/__voicectl/page/recordings/1.tar`, { headers });
  const tar = Buffer.from(await archive.arrayBuffer());
  tab.leave();
  await proxy.close();

  expect(new Set(modesOf(tar))).toEqual(new Set([0o600]));
  const fromPage = await readRecording(unpack(tar));
  const [name = ''] = readdirSync(record);
  const byFlag = await readRecording(join(record, name));
  expect(fromPage.summary).toMatchObject({ ok: false, device: 'lamp' });
  // It began after the upgrade, as the page can only record what is open.
  byFlag.wire = byFlag.wire.filter(({ type }) => type !== 'upgrade');
  expect(withoutTimes(fromPage)).toEqual(withoutTimes(byFlag));
});

test.each(['emulator', 'proxy'] as const)(
  'a key that comes in pieces is whole nowhere in a recording from the page of the %s',
  async (kind) => {
    const key = 'canary-key-0123456789abcdef';
    const page = createPage(() => facts, { token });
    const emulator = await startEmulator({ acceptKeys: [key], page });
    const { baseUrl, wsUrl } = kind === 'proxy' ? await startProxy(emulator, { page }) : emulator;
    const answer = await fetch(`${baseUrl}${tokenPath()}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ apiKey: key, deviceId: 'lamp' }),
    });
    const { token: jwt } = (await answer.json()) as { token: string };
    const device = openStream(wsUrl);
    await device.opened;
    await device.send(jwt);
    await device.until(() => device.messages.length === 1);
    const ask = (path: string, body?: unknown) =>
      fetch(`${baseUrl}/__voicectl/page/recordings/${path}`, {
        ...{ headers, method: body === undefined ? 'GET' : 'POST' },
        body: body === undefined ? null : JSON.stringify(body),
      });
    await ask('start', { stream: 1 });
    for (const delta of ['your key is canary-key-0', '123456789abcdef'])
      emulator.control.send({}, { json: { type: 'transcript.delta', delta } });
    await device.until(() => device.messages.length === 3);
    await ask('stop', { id: 1 });
    const files = readTar(Buffer.from(await (await ask('1.tar')).arrayBuffer()));
    expect(JSON.parse(String(files['summary.json'])).transcript).toMatchObject([
      { text: 'your key is [redacted]' },
    ]);
    for (const [name, bytes] of Object.entries(files)) expect(bytes.includes(key), name).toBe(false);
    expect(await (await ask('1.html')).text()).not.toContain(key);
    expect(await (await ask('1.json')).text()).not.toContain(key);
  },
);

test('a recording that cannot be kept is refused, the next one succeeds, and the emulator ends', async () => {
  const place = join(newFolder(), 'later');
  vi.stubEnv('TMPDIR', place);
  const emulator = await startEmulator({ reply: 'echo', page: createPage(() => facts, { token }) });
  const device = openStream(emulator.wsUrl);
  await device.opened;
  const start = () =>
    fetch(`${emulator.baseUrl}/__voicectl/page/recordings/start`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ stream: 1 }),
    });
  const refused = await start();
  expect({ status: refused.status, text: await refused.text() }).toEqual({
    status: 400,
    text: expect.stringContaining(`Cannot write ${place}`),
  });
  mkdirSync(place);
  expect((await start()).status).toBe(200);
  device.socket.terminate();
  await emulator.close();
  expect(readdirSync(place)).toEqual([]);
});

test('a stream that closes while the folder is made is not recorded', async () => {
  let isOpen = true;
  const stream = { stream: 1, device: 'lamp' };
  const clock = createCountedClock();
  const recordings = createRecordings({
    stage: {
      ...{ clock, elapsedMs: clock.now },
      control: {
        state: async () => ({ streams: isOpen ? [stream] : [] }),
        journal: { follow: () => () => {} },
      },
      observe(createTap: ObserveStream) {
        if (isOpen) createTap(1, 0);
        return () => {};
      },
    } as unknown as PageHost,
    service: () => ({ ...facts, what: 'emulator' }),
  });
  const started = recordings.start(1);
  // The folder is made by another thread.
  for (let at = 0; at < 10; at += 1) await Promise.resolve();
  isOpen = false;
  await expect(started).rejects.toMatchObject({ code: 'usage', message: 'Stream 1 is not open' });
  expect(recordings.list()).toEqual([]);
  expect(clock.pending).toEqual([]);
  await recordings.close();
});

test('a recording waits for an hour to end by itself, and no longer once it was stopped', async () => {
  const clock = createCountedClock();
  const stream = { stream: 1, device: 'lamp' };
  const stage = {
    ...{ clock, elapsedMs: clock.now, control: { state: async () => ({ streams: [stream] }) } },
    observe(createTap: ObserveStream) {
      createTap(1, 0);
      return () => {};
    },
  };
  const control = { ...stage.control, journal: { follow: () => () => {} } };
  const recordings = createRecordings({
    stage: { ...stage, control } as unknown as PageHost,
    service: () => ({ ...facts, what: 'emulator' }),
  });
  const { id } = await recordings.start(1);
  // The hour itself would be 460 MB on a disk.
  expect(clock.pending).toEqual([60 * 60_000]);
  await recordings.stop(id);
  expect(clock.pending).toEqual([]);
  await recordings.close();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'voicectl-page-test-'));
  folders.push(folder);
  return folder;
}

function unpack(tar: Buffer): string {
  const folder = join(newFolder(), 'recording');
  mkdirSync(folder);
  for (const [name, bytes] of Object.entries(readTar(tar))) writeFileSync(join(folder, name), bytes);
  return folder;
}

/** What a recording tells, but for its times and how its source is called. */
function withoutTimes({ manifest, events, wire, audio, summary }: Recording) {
  const { startedAt: _, source: __, ...facts } = manifest!;
  const { ok, device, out, in: incoming, events: kinds, verdicts, close, failure, underruns } = summary!;
  return {
    facts,
    events: events.map((event) => ({ ...event, t: 0, ...('source' in event ? { source: '' } : {}) })),
    wire: wire.map((line) => ({ ...line, t: 0, ...('at' in line ? { at: 0 } : {}) })),
    heard: { out: loudBytes(audio.out), in: loudBytes(audio.in) },
    summary: { ok, device, out, in: incoming, kinds, verdicts, close, failure, underruns },
    measured: Object.keys(summary!).toSorted(),
  };
}

/** The audio without the silence around it, which is time. */
function loudBytes(pcm: Buffer): number {
  return pcm.reduce((count, byte) => count + (byte === 0 ? 0 : 1), 0);
}

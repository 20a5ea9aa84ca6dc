import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { AudioMessage, Hello, PageMessage, StateMessage } from '../../../src/page/messages.ts';
import { createPage } from '../../../src/page/server/create-page.ts';
import { createFeed } from '../../../src/page/server/feed.ts';
import { noCounters } from '../../../src/report/serve-counters.ts';
import type { CreatePage, PageHost } from '../../../src/service/control/page-handler.ts';
import { setUpBundles } from '../../helpers/bundles.ts';
import { setUpEmulators } from '../../helpers/emulators.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';
import { headers, look, type Tab, token } from '../../helpers/page-tab.ts';
import { framesOf, silence, speech } from '../../helpers/pcm.ts';
import { readTar } from '../../helpers/tar.ts';

const bundles = setUpBundles();
const startEmulator = setUpEmulators();
const facts = { baseUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1', isDefault: true, curl: '' };
const start = (options = {}) =>
  startEmulator({ reply: 'echo', page: createPage(() => facts, { token }), ...options });

/** The peaks of a voice as the tab knows them, a byte for each 20 ms. */
function peaksOf({ seen }: Tab, stream: number, voice: 'out' | 'in'): number[] {
  const peaks: number[] = [];
  for (const message of seen.filter((one): one is AudioMessage => one.type === 'audio'))
    for (const told of message.streams.filter((one) => one.stream === stream).flatMap(({ voices }) => voices))
      if (told.voice === voice)
        for (const [at, peak] of Buffer.from(told.peaks, 'base64').entries()) peaks[told.from + at] = peak;
  return peaks;
}

async function post(baseUrl: string, path: string, body: unknown) {
  const answer = await fetch(`${baseUrl}/__voicectl/page/${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  return (await answer.json()) as { id: number };
}

describe('what a tab receives', () => {
  test('starts with what is known and continues with what happens', async () => {
    const emulator = await start();
    await emulator.requestToken('before');
    const tab = await look(emulator);
    await tab.until(() => tab.events().some(({ type }) => type === 'token-issued'));
    expect(tab.seen[0]).toMatchObject({ type: 'hello', aheadMs: 0 } satisfies Partial<Hello>);
    await emulator.connect('kitchen-1');
    await tab.until(() => tab.events().some(({ type }) => type === 'stream-authorised'));
    const state = await tab.until(() =>
      tab.seen.find(
        (one): one is StateMessage => one.type === 'state' && one.state.streams[0]?.device != null,
      ),
    );
    expect(state.state.streams[0]).toMatchObject({ stream: 1, device: 'kitchen-1' });
    tab.leave();
  });

  test('has the same peaks of both voices as the recording of the stream', async () => {
    const emulator = await start();
    const tab = await look(emulator);
    const client = await emulator.connect('kitchen-1');
    const { id } = await post(emulator.baseUrl, 'recordings/start', { stream: 1 });
    const said = Buffer.concat([speech(300), silence(100), speech(200)]);
    for (const frame of framesOf(said)) await client.send(frame);
    await client.until(() => client.audio.length >= said.length);
    await tab.until(() => (['out', 'in'] as const).every((voice) => peaksOf(tab, 1, voice).length >= 30));
    await post(emulator.baseUrl, 'recordings/stop', { id });
    const archive = await fetch(`${emulator.baseUrl}/__voicectl/page/recordings/${id}.tar`, { headers });
    const files = readTar(Buffer.from(await archive.arrayBuffer()));
    expect(Object.keys(files)).toEqual(
      expect.arrayContaining(['recording.json', 'you.wav', 'ai.wav', 'summary.json']),
    );
    for (const [voice, file] of [
      ['out', 'you.wav'],
      ['in', 'ai.wav'],
    ] as const) {
      const recorded = loudParts(peaksOfPcm(files[file]!.subarray(44)));
      const drawn = loudParts(peaksOf(tab, 1, voice).map((peak) => peak / 255));
      // Where a frame begins within 20 ms differs, and a busy machine delays frames: both place them by their own start.
      expect(drawn.max).toBeCloseTo(recorded.max, 1);
      expect(Math.abs(drawn.loud - recorded.loud)).toBeLessThanOrEqual(8);
      expect(drawn.loud).toBeGreaterThan(20);
    }
    tab.leave();
  });

  test('has, after it was away, the events since then, and nothing twice', async () => {
    const emulator = await start();
    const first = await look(emulator);
    const known = (await first.until(() => first.events().at(-1))).seq;
    first.leave();
    await emulator.requestToken('meanwhile');
    const second = await look(emulator, known);
    await second.until(() => second.events().find(({ type }) => type === 'token-issued'));
    expect(second.events().map(({ seq }) => seq)).toEqual([known + 1]);
    second.leave();
  });

  test('has the position of the clock before the events that follow', async () => {
    const emulator = await start();
    emulator.control.advance(61_000);
    for (let at = 0; at < 300; at += 1) emulator.control.send({}, { json: { at } });
    const first = await look(emulator);
    const moved = await first.until(() => first.events().find(({ type }) => type === 'control'));
    expect(moved).toMatchObject({ byMs: 61_000 });
    expect(first.seen[0]).toMatchObject({ aheadMs: 0 });
    first.leave();
    const second = await look(emulator, moved.seq);
    await second.until(() => second.state());
    expect(second.seen[0]).toMatchObject({ aheadMs: 61_000 });
    second.leave();
  });

  test('has that even if the clock is moved while the events are read', async () => {
    let reads = 0;
    const page: CreatePage = (stage) => {
      const { control } = stage;
      const journal: typeof control.journal = {
        ...control.journal,
        async read(filter, limit) {
          reads += 1;
          if (reads === 1) await control.advance(61_000);
          return control.journal.read(filter, limit);
        },
      };
      return createPage(() => facts, { token })({ ...stage, control: { ...control, journal } });
    };
    const emulator = await start({ page });
    const tab = await look(emulator);
    const moved = await tab.until(() => tab.events().find(({ type }) => type === 'control'));
    expect(moved).toMatchObject({ byMs: 61_000 });
    expect(tab.seen[0]).toMatchObject({ aheadMs: 0 });
    expect(reads).toBe(2);
    tab.leave();
  });

  test('has the counts since the emulator started, though the journal has dropped what was counted', async () => {
    const emulator = await start();
    await emulator.requestToken('first');
    emulator.control.reset();
    for (let at = 0; at < 2_100; at += 1) emulator.control.event({}, 'x');
    const tab = await look(emulator);
    expect(await tab.until(() => tab.counters())).toMatchObject({ tokens: 1, streams: 0 });
    expect(tab.events().some(({ type }) => type === 'token-issued')).toBe(false);
    await emulator.requestToken('second');
    await tab.until(() => tab.counters()?.tokens === 2);
    tab.leave();
  });

  test('ends with the last events and counts when the emulator closes', async () => {
    const emulator = await start();
    const tab = await look(emulator);
    await tab.until(() => tab.state());
    await emulator.requestToken('last');
    await emulator.close();
    await tab.until(() => tab.events().at(-1)?.type === 'stopping');
    expect(await tab.until(() => tab.counters())).toMatchObject({ tokens: 1 });
  });

  test('has one recording of a stream, however often one is requested', async () => {
    const emulator = await start();
    await emulator.connect('kitchen-1');
    const answers = await Promise.all(
      [1, 2, 3].map(() => post(emulator.baseUrl, 'recordings/start', { stream: 1 })),
    );
    expect(answers.filter(({ id }) => id !== undefined)).toHaveLength(1);
  });

  test('has the replayed recording among the others', async () => {
    const recording = await bundles.write((writer) => writer.audio('in', 0, speech(200)), { endMs: 400 });
    const { folder } = recording;
    const page = createPage(() => facts, { token, replayed: folder });
    const emulator = await start({ page });
    const tab = await look(emulator);
    const [replayed] = await tab.until(() => {
      const recordings = tab.state()?.recordings ?? [];
      return recordings.length > 0 && recordings;
    });
    expect(replayed).toMatchObject({ id: 0, device: 'device-1', durationMs: 400, end: 'stopped' });
    const shown = await fetch(`${emulator.baseUrl}/__voicectl/page/recordings/0.json`, { headers });
    expect(await shown.json()).toMatchObject({ view: { durationMs: 400 } });
    tab.leave();
  });

  test('comes from taps that exist only while a tab is open', async () => {
    const emulator = await start();
    const client = await emulator.connect('kitchen-1');
    const listeners = () => client.audio.length;
    const tab = await look(emulator);
    await client.send(speech(20));
    await tab.until(() => peaksOf(tab, 1, 'out').length > 0);
    const heard = tab.seen.find((one): one is AudioMessage => one.type === 'audio')!.streams[0]!;
    expect(heard.heardFromMs).toBeGreaterThanOrEqual(0);
    tab.leave();
    await client.send(speech(20));
    await client.until(() => listeners() >= 2 * 640);
  });
});

describe('a tab that does not keep up opens again, and has every event', () => {
  /** A feed whose ticks a test makes, and tabs that read as much as it says. */
  async function startFeed(change: (stage: PageHost) => Partial<PageHost> = () => ({})) {
    const stages: PageHost[] = [];
    const page: CreatePage = (stage) => {
      stages.push(stage);
      return createPage(() => facts, { token })(stage);
    };
    const emulator = await start({ page });
    const clock = createManualClock();
    const stage = { ...stages[0]!, clock, ...change(stages[0]!) };
    const feed = createFeed({
      stage,
      hello: () => ({ type: 'hello' }) as Hello,
      recordings: () => [],
      counters: () => noCounters,
    });
    const seen = new Set<number>();
    const open = async (since = 0, writableLength = 0) => {
      const tab = Object.assign(new EventEmitter(), {
        ...{ writableLength, isEnded: false, states: 0 },
        writeHead() {},
        write(text: string) {
          for (const line of text.split('\n').filter((one) => one !== '')) {
            const message = JSON.parse(line) as PageMessage;
            if (message.type === 'state') tab.states += 1;
            if (message.type === 'events')
              for (const entry of message.entries as { seq: number }[]) seen.add(entry.seq);
          }
        },
        end() {
          tab.isEnded = true;
        },
      });
      await feed.open(tab as never, since);
      return tab;
    };
    return {
      ...{ open, seen },
      /** Something happens, and each tab is told. */
      async happen(times = 1) {
        for (let at = 0; at < times; at += 1) {
          emulator.control.event({}, `moment ${at}`);
          await clock.run(100, 100);
        }
      },
      /** What no tab was told of. */
      missing: async () =>
        (await stage.control.journal.read({ since: 0 }, 10_000)).filter(({ seq }) => !seen.has(seq)),
    };
  }
  const unread = 2 * 1024 * 1024;

  test('if it leaves news unread', async () => {
    const { happen, open, seen, missing } = await startFeed();
    const tab = await open();
    await happen();
    tab.writableLength = unread;
    await happen(2);
    expect(tab.isEnded).toBe(true);
    const last = Math.max(...seen);
    await happen();
    expect(Math.max(...seen)).toBe(last);
    await open(last);
    await happen();
    expect(await missing()).toEqual([]);
  });

  test('but not while it reads what came before, however much that is', async () => {
    const { happen, open, missing } = await startFeed();
    await happen(3);
    const tab = await open(0, unread);
    await happen();
    expect(tab.isEnded).toBe(false);
    expect(await missing()).toEqual([]);
    tab.writableLength = 0;
    await happen();
    tab.writableLength = unread;
    await happen();
    expect(tab.isEnded).toBe(true);
  });

  test('but not because of one large state, and gets no other one before it has read that', async () => {
    const long = 'x'.repeat(unread);
    const { happen, open } = await startFeed(({ control }) => ({
      control: { ...control, state: async () => ({ ...(await control.state()), long }) } as typeof control,
    }));
    const tab = await open();
    await happen(5);
    expect(tab.states).toBe(2);
    tab.writableLength = unread;
    await happen(10);
    expect(tab).toMatchObject({ isEnded: false, states: 2 });
    tab.writableLength = 0;
    await happen(5);
    expect(tab.states).toBe(3);
  });

  test('if more happens than can wait while it is told what came before', async () => {
    let goOn = () => {};
    const waiting = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { happen, open, seen, missing } = await startFeed(({ control }) => ({
      control: {
        ...control,
        async state() {
          await waiting;
          return control.state();
        },
      } as typeof control,
    }));
    const opening = open();
    await happen(150);
    goOn();
    const tab = await opening;
    expect(tab.isEnded).toBe(true);
    await open(Math.max(...seen));
    expect(await missing()).toEqual([]);
  });
});

function peaksOfPcm(pcm: Buffer): number[] {
  return framesOf(pcm).map((frame) => {
    let peak = 0;
    for (let at = 0; at + 1 < frame.length; at += 2) peak = Math.max(peak, Math.abs(frame.readInt16LE(at)));
    return peak / 0x8000;
  });
}

/** How loud it becomes, and for how many frames it is loud. */
function loudParts(peaks: number[]) {
  return { max: Math.max(...peaks), loud: peaks.filter((peak) => peak > 0.1).length };
}

import { PassThrough } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import type { ContextOf } from '../../../src/commands/command.ts';
import { tokenCurl } from '../../../src/commands/service/token-curl.ts';
import { createStreamScreen } from '../../../src/commands/stream/screen.ts';
import { optionsOf } from '../../../src/config/options.ts';
import { resolveSettings } from '../../../src/config/settings.ts';
import type { TerminalDevice } from '../../../src/kernel/terminal-device.ts';
import { createStyle } from '../../../src/report/style.ts';
import type { SessionEvent } from '../../../src/session/events.ts';
import type { Screen, ScreenOptions } from '../../../src/ui/screen.ts';

type Options = ScreenOptions<SessionEvent>;

const opened: Options[] = [];

vi.mock('../../../src/ui/screen.ts', () => ({
  openScreen(options: Options): Screen<SessionEvent> {
    opened.push(options);
    const copy = (text: string) => void copied.push(text);
    return { show() {}, startAt() {}, copy, isTouched: true, close: async () => {} };
  },
}));

const copied: string[] = [];
afterEach(() => {
  opened.splice(0);
  copied.splice(0);
});

function open(settings = {}) {
  const stdout = new PassThrough();
  const written: string[] = [];
  const write = async (text: string) => void written.push(text);
  const context = {
    settings: { maxFirstAudio: 700, maxGap: 200, maxJitter: 30, ...settings },
    io: { env: {}, cwd: '/', stdout: Object.assign(stdout, { write }), stderr: { write } },
    style: createStyle(false),
    signal: new AbortController().signal,
    colour: false,
    note: async () => {},
  };
  const view = createStreamScreen(context as unknown as ContextOf<'stream'>, {
    device: {} as TerminalDevice,
    sourceName: 'microphone',
    canReconnect: false,
    canMute: true,
  });
  const press: Options['onAction'] = (action) => opened[0]?.onAction(action);
  const lose = () => opened[0]?.onEnd({ cause: 'keys', error: new Error('it was closed') });
  return { view, press, lose, written };
}

function createLive() {
  const microphone = {
    muted: false,
    mute(on: boolean) {
      microphone.muted = on;
    },
  };
  const live = { microphone: { switch: microphone } } as unknown as Parameters<
    ReturnType<typeof open>['view']['attach']
  >[0];
  return { microphone, live };
}

test('marks figures past the limits that the user has set', () => {
  open();
  expect(opened[0]?.start.limits).toEqual({ firstAudioMs: 700, gapMs: 200, jitterMs: 30 });
});

test('copies the curl command that token --curl prints', async () => {
  const { settings } = await resolveSettings(optionsOf('token'), {
    ...{ flags: { baseUrl: 'https://localhost:8443', ca: 'ca.pem', device: 'lamp' }, env: {}, cwd: '/' },
  });
  open(settings).press({ type: 'copyCurl' });
  expect(copied).toEqual([tokenCurl(settings, 'lamp')]);
  expect(copied[0]).toMatch(/--cacert 'ca\.pem'.*\$\{VOICECTL_API_KEY:-/);
});

test('a microphone that is muted before it opens starts muted', () => {
  const { view, press } = open();
  const { microphone, live } = createLive();
  press({ type: 'mute', on: true });
  view.attach(live);
  expect(microphone.muted).toBe(true);
  press({ type: 'mute', on: false });
  expect(microphone.muted).toBe(false);
});

test('no session starts if the user has already quit', async () => {
  const { view, press } = open();
  press({ type: 'quit' });
  const begin = vi.fn(async function* () {});
  await expect(view.run(begin)).rejects.toMatchObject({ code: 'interrupted' });
  expect(begin).not.toHaveBeenCalled();
});

test('a session starts even if no keys can be read from the terminal', async () => {
  const { view, lose } = open();
  lose();
  const begin = vi.fn(async function* () {});
  await view.run(begin).catch(() => {});
  expect(begin).toHaveBeenCalled();
});

test('a session with endless warnings leaves the newest, each cut, and counts the rest', async () => {
  const { view, press, written } = open();
  await view.run(async function* () {
    yield { t: 0, type: 'state', state: 'live' };
    for (let count = 1; count <= 1_000; count += 1)
      yield { t: count, type: 'warning', code: 'late', message: `warning ${count} ${'😀'.repeat(5_000)}` };
    press({ type: 'quit' });
  });
  await view.close();
  expect(written[0]).toBe('… 900 earlier lines\n');
  expect(written).toHaveLength(101);
  expect(written.at(-1)).toMatch(/warning 1000 (😀)+…\n$/u);
  expect(Math.max(...written.map((line) => line.length))).toBeLessThan(510);
});

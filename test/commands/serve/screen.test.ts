import { afterEach, expect, test, vi } from 'vitest';
import { createServeScreen } from '../../../src/commands/serve/screen.ts';
import type { ServeContext } from '../../../src/commands/serve/view.ts';
import { createEmulator } from '../../../src/emulator/emulator.ts';
import type { TerminalDevice } from '../../../src/kernel/terminal-device.ts';
import type { ServeCounters } from '../../../src/report/serve-counters.ts';
import { createStyle } from '../../../src/report/style.ts';
import type { Screen, ScreenOptions } from '../../../src/ui/screen.ts';
import type { ServeNews } from '../../../src/ui/serve-model.ts';

const opened: ScreenOptions<ServeNews>[] = [];
const told: string[] = [];
const counted: ServeCounters[] = [];

vi.mock('../../../src/ui/screen.ts', () => ({
  openScreen(options: ScreenOptions<ServeNews>): Screen<ServeNews> {
    opened.push(options);
    return {
      show(event) {
        if (event.type === 'notice') told.push(event.text);
        if (event.type === 'counted') counted.push(event.counters);
      },
      startAt() {},
      copy() {},
      isTouched: true,
      close: async () => {},
    };
  },
}));

const deferred: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const call of deferred.splice(0)) await call();
  opened.splice(0);
  told.splice(0);
  counted.splice(0);
});

function open(command?: string) {
  const exits: number[] = [];
  const context = {
    settings: { reply: 'echo' },
    io: { env: {}, cwd: '/', exit: (code: number) => void exits.push(code) },
    style: createStyle(false),
    colour: false,
  };
  const device = {} as TerminalDevice;
  const view = createServeScreen(context as unknown as ServeContext, {
    ...{ device, command, key: { open: 'any-key' } },
  });
  deferred.push(view.close);
  return {
    view,
    exits,
    press: (action: Parameters<(typeof opened)[0]['onAction']>[0]) => opened[0]?.onAction(action),
  };
}

test('x and e on a stream that is not reached do not report success', async () => {
  const { view, press } = open();
  const emulator = await createEmulator();
  deferred.push(() => emulator.close());
  view.attach(emulator, {});
  press({ type: 'close', stream: 7 });
  press({ type: 'send', stream: 7, text: 'speaking' });
  await vi.waitFor(() => expect(told).toHaveLength(2));
  for (const text of told) expect(text).toMatch(/^Stream 7 was not reached/);
});

test('the first q ends in order, the second at once', async () => {
  const { view, exits, press } = open();
  press({ type: 'quit' });
  await view.ended;
  expect(exits).toEqual([]);
  press({ type: 'quit' });
  expect(exits).toEqual([130]);
});

test('the screen gets the counts of all events, also of those that it may not have drawn', async () => {
  const { view } = open();
  const emulator = await createEmulator();
  deferred.push(() => emulator.close());
  view.attach(emulator, {});
  const issued = { device: 'd', jti: 'j', exp: 1, remaining: 1, resetAtMs: 1 };
  for (let at = 0; at < 3; at += 1) view.show({ t: at, type: 'token-issued', ...issued });
  await vi.waitFor(() => expect(counted.at(-1)).toMatchObject({ tokens: 3 }));
});

test('the head of the screen names the command that runs the emulator, which keeps its clock', () => {
  open('replay');
  expect(opened[0]?.start).toMatchObject({ command: 'replay', subject: 'replying with echo' });
  expect(opened[0]?.start.can).toContain('advance');
});

import { afterEach, expect, test, vi } from 'vitest';
import { createServeScreen } from '../../../src/commands/serve/screen.ts';
import type { ServeContext } from '../../../src/commands/serve/view.ts';
import { createEmulator } from '../../../src/emulator/emulator.ts';
import type { TerminalDevice } from '../../../src/kernel/terminal-device.ts';
import { createStyle } from '../../../src/report/style.ts';
import type { EmulatorEvent } from '../../../src/service/events.ts';
import type { Screen, ScreenOptions } from '../../../src/ui/screen.ts';

const opened: ScreenOptions<EmulatorEvent>[] = [];
const told: string[] = [];

vi.mock('../../../src/ui/screen.ts', () => ({
  openScreen(options: ScreenOptions<EmulatorEvent>): Screen<EmulatorEvent> {
    opened.push(options);
    return {
      show(event) {
        if (event.type === 'notice') told.push(event.text);
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
});

function open() {
  const exits: number[] = [];
  const context = {
    settings: { reply: 'echo' },
    io: { env: {}, cwd: '/', exit: (code: number) => void exits.push(code) },
    style: createStyle(false),
    colour: false,
  };
  const device = {} as TerminalDevice;
  const view = createServeScreen(context as unknown as ServeContext, { device, key: { open: 'any-key' } });
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

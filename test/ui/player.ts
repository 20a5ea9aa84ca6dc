import { readFileSync } from 'node:fs';
import { createTerminalDevice } from '../../src/kernel/terminal-device.ts';
import type { ScreenStart } from '../../src/ui/port.ts';
import { openScreen } from '../../src/ui/screen.ts';

/** What is played on a screen: events that are there at once, at a moment at which time stands still. */
export interface Scene {
  start: ScreenStart;
  events: readonly { type: string }[];
  now: number;
  wall: number;
  /** The built thread that draws, as a URL. */
  worker: string;
}

/** Shows the scene in the file that is named, in the terminal that this runs in, until `q`. */
const scene = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Scene;
const device = createTerminalDevice(process.stdin, process.stdout, new AbortController().signal);
if (device === undefined) throw new Error('This is no terminal');
const screen = openScreen<{ type: string }>({
  device,
  clock: {
    now: () => scene.now,
    wall: () => scene.wall,
    after(ms, call) {
      const timer = setTimeout(call, ms);
      return { cancel: () => clearTimeout(timer) };
    },
  },
  worker: new URL(scene.worker),
  start: scene.start,
  colour: true,
  fold: () => undefined,
  onAction(action) {
    if (action.type === 'quit') void screen.close().then(() => process.exit(0));
  },
  onEnd: ({ error }) => {
    throw error;
  },
});
screen.startAt(0);
for (const event of scene.events) screen.show(event);

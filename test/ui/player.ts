import { readFileSync } from 'node:fs';
import { createTerminalDevice } from '../../src/kernel/terminal-device.ts';
import { startDrawThread } from '../../src/ui/draw-thread.ts';
import { openScreen } from '../../src/ui/screen.ts';
import type { Scene } from './golden.ts';

export interface Play {
  /** The built thread that draws, as a URL. */
  worker: string;
  scenes: Scene[];
}

/** Shows the scenes in the file that is named, in the terminal that this runs in: `q` shows the next one. */
const { worker, scenes } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Play;
const device = createTerminalDevice(process.stdin, process.stdout, new AbortController().signal);
if (device === undefined) throw new Error('This is no terminal');
for (const { start, events, now, wall } of scenes) {
  // A screen that closes pauses it.
  process.stdin.resume();
  await new Promise<void>((resolve) => {
    const screen = openScreen<{ type: string }>({
      device,
      clock: {
        now: () => now,
        wall: () => wall,
        after(ms, call) {
          const timer = setTimeout(call, ms);
          return { cancel: () => clearTimeout(timer) };
        },
      },
      thread: startDrawThread({ colour: true, file: new URL(worker) }),
      start,
      fold: () => undefined,
      onAction(action) {
        if (action.type === 'quit') void screen.close().then(resolve);
      },
      onEnd: ({ error }) => {
        throw error;
      },
    });
    screen.startAt(0);
    for (const event of events) screen.show(event);
  });
}
process.exit(0);

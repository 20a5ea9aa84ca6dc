import { parentPort } from 'node:worker_threads';
import { systemClock } from '../kernel/clock.ts';
import { createDrawer } from './drawer.tsx';
import { roomOf } from './layout.ts';
import type { Frame, FrameRequest, ScreenStart } from './port.ts';
import { createScreenModel } from './screen-model.ts';

/** The drawing thread: it gets events and returns output for the terminal. */
function createPainter(start: ScreenStart): (request: FrameRequest) => Frame {
  const drawer = createDrawer(start.ascii);
  const next = createScreenModel(start);
  return (request) => {
    const startedAt = systemClock.now();
    const { bands, actions } = next(request);
    const patch = drawer.draw(bands, { columns: roomOf(request).columns, rows: request.rows }, request.fresh);
    return { patch, actions, tookMs: systemClock.now() - startedAt };
  };
}

let paint: (request: FrameRequest) => Frame;
parentPort?.on('message', (text: string) => {
  const request = JSON.parse(text) as FrameRequest;
  if (request.start !== undefined) paint = createPainter(request.start);
  parentPort?.postMessage(paint(request));
});

import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../kernel/clock.ts';
import { createDrawer } from './drawer.tsx';
import { roomOf } from './layout.ts';
import type { Frame, FrameRequest, ScreenStart } from './port.ts';
import { createScreenModel } from './screen-model.ts';

/** The drawing thread: it takes events, and answers with output for the terminal. */
const start = workerData as ScreenStart;
const drawer = createDrawer(start.ascii);
const next = createScreenModel(start);

parentPort?.on('message', (text: string) => {
  const request = JSON.parse(text) as FrameRequest;
  const startedAt = systemClock.now();
  const { bands, actions } = next(request);
  const patch = drawer.draw(bands, { columns: roomOf(request).columns, rows: request.rows }, request.fresh);
  const frame: Frame = { patch, actions, tookMs: systemClock.now() - startedAt };
  parentPort?.postMessage(frame);
});

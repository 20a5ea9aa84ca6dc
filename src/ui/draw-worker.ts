import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../clock.ts';
import type { SessionEvent } from '../session/events.ts';
import { createDrawer } from './drawer.tsx';
import { layoutStream, roomOf } from './layout.ts';
import type { Action, Frame, FrameRequest, Notice, ScreenStart } from './port.ts';
import { readKeys } from './read-keys.ts';
import { createStreamModel, pressStreamKey, reduceStream, settleStream } from './stream-model.ts';
import { streamBands } from './stream-screen.tsx';

/** The thread that draws: it takes what has come in, and answers with what has to be written. */
const start = workerData as ScreenStart;
const drawer = createDrawer(start.ascii);
const next = createStreamScreen(start);

parentPort?.on('message', (request: FrameRequest) => {
  const startedAt = systemClock.now();
  const { bands, actions } = next(request);
  const size = roomOf(request);
  const visible = { columns: size.columns, rows: Math.min(size.rows, request.rows) };
  const patch = drawer.draw(bands, visible, request.fresh);
  const frame: Frame = { patch, actions, tookMs: systemClock.now() - startedAt };
  parentPort?.postMessage(frame);
});

function createStreamScreen(begin: ScreenStart) {
  let model = createStreamModel(begin);
  return (request: FrameRequest) => {
    const actions: Action[] = [];
    const apply = (pressed: ReturnType<typeof settleStream>) => {
      model = pressed.model;
      actions.push(...pressed.actions);
    };
    model = reduceStream(model, { ...request, events: request.events as (SessionEvent | Notice)[] });
    for (const key of readKeys(request.input)) {
      apply(pressStreamKey(model, key, layoutStream(request).listLines));
    }
    apply(settleStream(model));
    return { bands: streamBands(model, request), actions };
  };
}

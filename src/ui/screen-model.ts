import { type Browser, type Pressed, pressWatchedKey } from './browser.ts';
import { type Band, layoutLoad, layoutServe, layoutStream, layoutVerdicts, type Size } from './layout.ts';
import { createLoadModel, type LoadNews, reduceLoad } from './load-model.ts';
import { loadBands } from './load-screen.tsx';
import type { Action, FrameRequest, ScreenStart } from './port.ts';
import { type Key, readKeys } from './read-keys.ts';
import { pressServeKey, settleServe } from './serve-keys.ts';
import { createServeModel, reduceServe, type ServeNews } from './serve-model.ts';
import { serveBands } from './serve-screen.tsx';
import {
  createStreamModel,
  pressStreamKey,
  reduceStream,
  type StreamNews,
  settleStream,
} from './stream-model.ts';
import { streamBands } from './stream-screen.tsx';
import { createVerdictModel, reduceVerdicts, type VerdictNews } from './verdict-model.ts';
import { verdictBands } from './verdict-screen.tsx';

/** One kind of screen: its state, and how it is shown. */
interface ScreenKind<Model extends Browser, Layout extends { listLines: number }> {
  first: Model;
  reduce: (model: Model, request: FrameRequest) => Model;
  press: (model: Model, key: Key, layout: Layout) => Pressed<Model>;
  /** Updates what follows from the state and the moment. */
  settle?: (model: Model) => Pressed<Model>;
  layout: (terminal: Size, model: Model) => Layout;
  bands: (model: Model, terminal: Size) => Band[];
}

/** Handles one request after the other; the result is the picture, and the user's actions. */
export type NextScreen = (request: FrameRequest) => { bands: Band[]; actions: readonly Action[] };

/** Creates the screen that the start message names. */
export function createScreenModel(start: ScreenStart): NextScreen {
  if (start.screen === 'serve') {
    return run({
      first: createServeModel(start),
      reduce: (model, request) =>
        reduceServe(model, { ...request, events: request.events as readonly ServeNews[] }),
      press: pressServeKey,
      settle: settleServe,
      layout: (terminal, { most }) => layoutServe(terminal, most),
      bands: serveBands,
    });
  }
  if (start.screen === 'check' || start.screen === 'drill') {
    return run({
      first: createVerdictModel(start),
      reduce: (model, request) =>
        reduceVerdicts(model, { ...request, events: request.events as readonly VerdictNews[] }),
      press: (model, key, { listLines }) => pressWatchedKey(model, key, listLines),
      layout: layoutVerdicts,
      bands: verdictBands,
    });
  }
  if (start.screen === 'load') {
    return run({
      first: createLoadModel(start),
      reduce: (model, request) =>
        reduceLoad(model, { ...request, events: request.events as readonly LoadNews[] }),
      press: (model, key, { listLines }) => pressWatchedKey(model, key, listLines),
      layout: layoutLoad,
      bands: loadBands,
    });
  }
  return run({
    first: createStreamModel(start),
    reduce: (model, request) =>
      reduceStream(model, { ...request, events: request.events as readonly StreamNews[] }),
    press: (model, key, { listLines }) => pressStreamKey(model, key, listLines),
    settle: settleStream,
    layout: layoutStream,
    bands: streamBands,
  });
}

function run<Model extends Browser, Layout extends { listLines: number }>(
  kind: ScreenKind<Model, Layout>,
): NextScreen {
  let model = kind.first;
  return (request) => {
    const actions: Action[] = [];
    const apply = (pressed: Pressed<Model>) => {
      model = pressed.model;
      actions.push(...pressed.actions);
    };
    model = kind.reduce(model, request);
    for (const key of readKeys(request.input)) apply(kind.press(model, key, kind.layout(request, model)));
    if (kind.settle !== undefined) apply(kind.settle(model));
    return { bands: kind.bands(model, request), actions };
  };
}

import { type Browser, moveTo, type Pressed, pasteText, pressWatchedKey } from './browser.ts';
import { type Band, layoutLoad, layoutServe, layoutStream, layoutVerdicts, type Size } from './layout.ts';
import { createLoadModel, reduceLoad } from './load-model.ts';
import { loadBands } from './load-screen.tsx';
import type { Action, FrameRequest, ScreenStart } from './port.ts';
import { createKeyReader, type Key } from './read-keys.ts';
import { pressServeKey, settleServe } from './serve-keys.ts';
import { createServeModel, reduceServe } from './serve-model.ts';
import { serveBands } from './serve-screen.tsx';
import { createStreamModel, pressStreamKey, reduceStream, settleStream } from './stream-model.ts';
import { streamBands } from './stream-screen.tsx';
import { createVerdictModel, reduceVerdicts } from './verdict-model.ts';
import { verdictBands } from './verdict-screen.tsx';

/** One kind of screen: its state, and how it is shown. */
interface ScreenKind<Model extends Browser, News, Layout extends { listLines: number }> {
  first: Model;
  reduce: (model: Model, events: readonly News[]) => Model;
  press: (model: Model, key: Key, layout: Layout) => Pressed<Model>;
  /** Updates what depends on the state and the moment. */
  settle?: (model: Model) => Pressed<Model>;
  layout: (terminal: Size, model: Model) => Layout;
  bands: (model: Model, terminal: Size) => Band[];
}

/** Handles one request after another; returns the picture and the user's actions. */
export type NextScreen = (request: FrameRequest) => { bands: Band[]; actions: readonly Action[] };

/** Creates the screen that the start message names. */
export function createScreenModel(start: ScreenStart): NextScreen {
  switch (start.screen) {
    case 'serve':
      return run({
        first: createServeModel(start),
        reduce: reduceServe,
        press: pressServeKey,
        settle: settleServe,
        layout: (terminal, { most }) => layoutServe(terminal, most),
        bands: serveBands,
      });
    case 'check':
    case 'drill':
      return run({
        first: createVerdictModel(start),
        reduce: reduceVerdicts,
        press: pressWatchedKey,
        layout: layoutVerdicts,
        bands: verdictBands,
      });
    case 'load':
      return run({
        first: createLoadModel(start),
        reduce: reduceLoad,
        press: pressWatchedKey,
        layout: layoutLoad,
        bands: loadBands,
      });
    case 'stream':
      return run({
        first: createStreamModel(start),
        reduce: reduceStream,
        press: pressStreamKey,
        settle: settleStream,
        layout: layoutStream,
        bands: streamBands,
      });
  }
}

function run<Model extends Browser, News, Layout extends { listLines: number }>(
  kind: ScreenKind<Model, News, Layout>,
): NextScreen {
  let model = kind.first;
  const readInput = createKeyReader();
  return (request) => {
    const actions: Action[] = [];
    const apply = (pressed: Pressed<Model>) => {
      model = pressed.model;
      actions.push(...pressed.actions);
    };
    model = kind.reduce(moveTo(model, request), request.events as readonly News[]);
    for (const input of readInput(request.input)) {
      if ('pasted' in input) model = pasteText(model, input.pasted);
      else apply(kind.press(model, input.key, kind.layout(request, model)));
    }
    if (kind.settle !== undefined) apply(kind.settle(model));
    return { bands: kind.bands(model, request), actions };
  };
}

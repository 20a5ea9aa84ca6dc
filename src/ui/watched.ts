import { type Browser, type Pressed, pressKey } from './browser.ts';
import type { Key } from './read-keys.ts';

/** A screen of something that ends by itself, or when the user quits. */
export interface Watched extends Browser {
  /** How it ended, and when. */
  ended: { ok: boolean; text: string; at: number } | undefined;
  /** The user has quit, and the end is awaited. */
  isEnding: boolean;
}

export const stillRunning = { ended: undefined, isEnding: false } as const;

/** Handles a key. `page`: number of lines of the list. */
export function pressWatchedKey<Model extends Watched>(model: Model, key: Key, page: number): Pressed<Model> {
  const { model: next, actions } = pressKey(model, key, page);
  const isEnding = next.isEnding || actions.some(({ type }) => type === 'quit');
  return { model: { ...next, isEnding }, actions };
}

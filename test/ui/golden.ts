import { join } from 'node:path';
import type { ScreenStart } from '../../src/ui/port.ts';
import {
  checkStart,
  conversation,
  loadNews,
  loadStart,
  seenTurns,
  serveNews,
  serveStart,
  streamStart,
  verdictNews,
  wall,
} from './screens.ts';

/** What is shown on a screen: events that are there at once, at a moment at which time stands still. */
export interface Scene {
  start: ScreenStart;
  events: readonly { type: string }[];
  now: number;
  wall: number;
}

/** Each of them has a picture in golden/ for each size. */
export const scenes: Record<'stream' | 'serve' | 'check' | 'load', Scene> = {
  stream: { start: streamStart, events: [...conversation(), seenTurns], now: 12_000, wall },
  serve: { start: serveStart, events: serveNews(), now: 8_000, wall },
  check: { start: checkStart, events: verdictNews(), now: 9_000, wall },
  load: { start: loadStart, events: loadNews(), now: 12_000, wall },
};
export type SceneName = keyof typeof scenes;
export const sceneNames = Object.keys(scenes) as SceneName[];

export const sizes = [
  [60, 15],
  [80, 24],
  [160, 50],
] as const;

/** The file of a picture: `name` without its end. */
export const goldenPath = (name: string) => join(import.meta.dirname, 'golden', `${name}.txt`);

/** The keys that a picture shows the effect of, after those before it, as a terminal sends them. */
export const keyPictures = [
  ['help', '?'],
  ['detail', '\u001b', 'g', '\r'],
  ['filter', '\u001b', '/', 'dir:in status'],
] as const;

import { expect, test } from 'vitest';
import { createPainter } from '../../src/page/app/picture/painter.ts';

test('a frame paints two pictures if there is time, and the next one paints the rest, each once', () => {
  const frames: (() => void)[] = [];
  let now = 0;
  const paintSoon = createPainter((paint) => frames.push(paint), { now: () => now });
  const painted: string[] = [];
  const paint = (name: string, ms: number) => () => {
    painted.push(name);
    now += ms;
  };
  const picture = paint('picture', 3);
  for (const one of [paint('slow', 8), picture, paint('b', 3), picture, paint('c', 3)]) paintSoon(one);
  expect(frames).toHaveLength(1);
  frames.shift()?.();
  expect(painted.splice(0)).toEqual(['slow']);
  paintSoon(picture);
  expect(frames).toHaveLength(1);
  frames.shift()?.();
  expect(painted.splice(0)).toEqual(['picture', 'b']);
  paintSoon(picture);
  frames.shift()?.();
  expect(painted).toEqual(['c', 'picture']);
  expect(frames).toHaveLength(0);
});

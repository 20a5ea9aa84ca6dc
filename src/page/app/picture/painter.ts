import type { Clock } from '../../../kernel/clock.ts';

/** Longest time that is painted in one frame; what is left is painted in the next ones. */
const budgetMs = 8;

/** Returns a function that calls `paint` with the next frame that has time for it: once, however often it is asked for. */
export function createPainter(nextFrame: (call: () => void) => void, clock: Pick<Clock, 'now'>) {
  const due = new Set<() => void>();
  let isAsked = false;

  const paintDue = () => {
    isAsked = false;
    const end = clock.now() + budgetMs;
    for (const paint of due) {
      if (clock.now() >= end) {
        paintSoon(paint);
        return;
      }
      due.delete(paint);
      paint();
    }
  };
  const paintSoon = (paint: () => void) => {
    due.add(paint);
    if (isAsked) return;
    isAsked = true;
    nextFrame(paintDue);
  };
  return paintSoon;
}

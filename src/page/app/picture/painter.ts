import type { Clock } from '../../../kernel/clock.ts';

/** Longest time that is painted in one frame; what is left is painted in the next ones. */
const budgetMs = 8;
/** Most pictures of one frame: handing a canvas over takes time after it was painted, the first time most. */
const maxPaints = 2;

/** Returns a function that calls `paint` with the next frame that has time for it: once, however often it is asked for. */
export function createPainter(nextFrame: (call: () => void) => void, clock: Pick<Clock, 'now'>) {
  const due = new Set<() => void>();
  let isAsked = false;

  const paintDue = () => {
    isAsked = false;
    const end = clock.now() + budgetMs;
    let painted = 0;
    for (const paint of due) {
      if (painted === maxPaints || clock.now() >= end) {
        paintSoon(paint);
        return;
      }
      painted += 1;
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

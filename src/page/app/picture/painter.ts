import type { Clock } from '../../../kernel/clock.ts';

/** Longest painting time in one frame; the rest is painted in the next ones. */
const budgetMs = 8;
/** Maximum number of pictures in one frame: after painting, handing over a canvas takes time, most of all the first time. */
const maxPaints = 2;

/** Returns a function that calls `paint` in the next frame that has time for it: once, however often it is requested. */
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

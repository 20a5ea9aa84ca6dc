import type { Axis, Mark, PictureSpan } from '../../view-data.ts';

/** A part of a time axis: from `start` to `end`, milliseconds. */
interface Part {
  axis: Axis;
  start: number;
  end: number;
  pxPerMs: number;
}

/** Room for what is written beside a span. */
const besidePx = 300;

/** An axis without the turns and gaps that are out of view: a long session has thousands. */
export function spansInView({ axis, start, end, pxPerMs }: Part): Axis {
  const beside = besidePx / pxPerMs;
  const isInView = ({ startMs, endMs }: PictureSpan) => startMs < end + beside && endMs > start - beside;
  const turns = axis.turns.filter((turn) => isInView(turn) || isInView(waitBefore(turn)));
  return { ...axis, turns, gaps: axis.gaps.filter(isInView) };
}

function waitBefore({ startMs, afterMs }: Axis['turns'][number]): PictureSpan {
  return { startMs: startMs - (afterMs ?? 0), endMs: startMs };
}

/** The most severe first: where there is no room for all names, those of the most severe marks are shown. */
export const tonesBySeverity: readonly Mark['tone'][] = ['bad', 'note', 'good', 'ink', 'muted'];
/** Marks nearer than this are shown as one: the most severe. */
const nearestPx = 5;

/** The visible marks; those of the axis are in order of time. */
export function marksInView({ axis: { marks }, start, end, pxPerMs }: Part): Mark[] {
  const margin = 10 / pxPerMs;
  const found: Mark[] = [];
  let place = Number.NaN;
  for (let at = marks.length - 1; at >= 0; at -= 1) {
    const mark = marks[at];
    if (mark === undefined || mark.t > end + margin) continue;
    if (mark.t < start - margin) break;
    const its = Math.floor((mark.t * pxPerMs) / nearestPx);
    const last = found.at(-1);
    if (its !== place || last === undefined) found.push(mark);
    else if (tonesBySeverity.indexOf(mark.tone) < tonesBySeverity.indexOf(last.tone))
      found[found.length - 1] = mark;
    place = its;
  }
  return found.reverse();
}

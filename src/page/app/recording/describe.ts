import type { Axis } from '../../view-data.ts';
import { placeTimeText } from '../picture/places.ts';
import type { Scroller } from '../picture/scroller.ts';

/** A time, and who speaks at it. */
export function describeMoment({ turns }: Axis, ms: number): string {
  const speaking = turns.filter(({ startMs, endMs }) => startMs <= ms && ms <= endMs);
  const who = speaking.map(({ voice }) => (voice === 'out' ? 'you speak' : 'the AI speaks'));
  return [placeTimeText(ms), ...who].join(', ');
}

/** Everything at a point of the picture. */
export function describePoint(axis: Axis, ms: number, { distance }: Pick<Scroller, 'distance'>): string {
  const near = axis.marks.filter(({ t }) => distance(t, ms) < 6);
  const gap = axis.gaps.find(({ startMs, endMs }) => startMs <= ms && ms <= endMs);
  const texts = [describeMoment(axis, ms), ...near.map(({ text }) => text)];
  if (gap !== undefined) texts.push(`gap of ${Math.round(gap.endMs - gap.startMs)} ms`);
  return texts.join('   ');
}

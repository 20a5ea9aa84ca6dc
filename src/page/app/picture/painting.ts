import { systemClock } from '../../../kernel/clock.ts';
import { createPainter } from './painter.ts';

/** Paints in the next frame that has time for it. */
export const paintSoon = createPainter((call) => requestAnimationFrame(call), systemClock);

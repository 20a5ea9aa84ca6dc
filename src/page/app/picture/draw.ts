import { findOverlaps } from '../../../audio/dialogue/sound-spans.ts';
import { cutText } from '../../../kernel/escape.ts';
import { secondsText } from '../../../protocol/time-text.ts';
import type { Axis, Mark, PictureSpan } from '../../view-data.ts';
import { marksInView, spansInView, tonesBySeverity } from './in-view.ts';
import { gutter, middleOf, pictureHeight, placeTimeText, rows } from './places.ts';

/** What is drawn: the part of the time axis that is in view. */
export interface PictureView {
  axis: Axis;
  /** Width of the canvas, in CSS pixels. */
  width: number;
  /** The time at the left edge, behind the gutter. */
  start: number;
  pxPerMs: number;
  colors: Record<string, string>;
  /** The loudest amplitude, 0 to 1, from one time to another. */
  peaks: Record<Voice, (fromMs: number, toMs: number) => number>;
  /** What nobody heard. */
  unheard: readonly PictureSpan[];
  /** What the voices are called. */
  names: Record<Voice, string>;
}

type Voice = 'out' | 'in';
const voices = ['out', 'in'] as const;
const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 3e4, 6e4, 12e4, 3e5, 6e5];

interface Drawing extends PictureView {
  pen: Pen;
  x: (ms: number) => number;
  /** The time at the right edge. */
  end: number;
  /** The marks in view. */
  marks: readonly Mark[];
}

/** Draws both voices, who speaks when, gaps, waits and events. */
export function drawPicture(context: CanvasRenderingContext2D, view: PictureView): void {
  const { width, colors } = view;
  const end = view.start + (width - gutter) / view.pxPerMs;
  const drawing: Drawing = {
    ...view,
    axis: spansInView({ ...view, end }),
    pen: pen(context),
    x: (ms) => gutter + (ms - view.start) * view.pxPerMs,
    end,
    marks: marksInView({ ...view, end }),
  };
  context.clearRect(0, 0, width, pictureHeight);
  context.textBaseline = 'middle';
  context.save();
  context.beginPath();
  context.rect(gutter, 0, width - gutter, pictureHeight);
  context.clip();
  drawUnheard(drawing);
  drawAxis(drawing);
  drawPhases(drawing);
  drawEventLines(drawing);
  drawOverlaps(drawing);
  for (const voice of voices) {
    drawTurns(drawing, voice);
    drawWave(drawing, voice);
  }
  drawGaps(drawing);
  drawWaits(drawing);
  drawArrivals(drawing);
  drawSpoken(drawing);
  drawEvents(drawing);
  context.restore();
  const { label } = drawing.pen;
  label(view.names.out, 12, middleOf(rows.out), colors.you, 600);
  label(view.names.in, 12, middleOf(rows.in), colors.ai, 600);
  if (view.axis.arrivals.length > 0) label('arrivals', 14, middleOf(rows.arrivals), colors.muted);
  label('events', 14, middleOf(rows.events), colors.muted);
}

function drawUnheard({ pen: { fill }, x, unheard, colors }: Drawing): void {
  const { top } = rows.out;
  for (const { startMs, endMs } of unheard)
    fill(x(startMs), top, x(endMs) - x(startMs), rows.in.top + rows.in.height - top, colors.line, 0.5);
}

function drawAxis({ pen: { line, label }, start, pxPerMs, colors, axis, x, end }: Drawing): void {
  const step = steps.find((one) => one * pxPerMs >= 70) ?? 6e5;
  const last = Math.min(axis.durationMs, end);
  for (let at = Math.max(0, Math.floor(start / step) * step); at <= last; at += step) {
    line(x(at), rows.axis.height - 5, pictureHeight, colors.line);
    label(placeTimeText(at, step), x(at) + 4, middleOf(rows.axis), colors.muted);
  }
}

function drawPhases({ pen: { line, label, widthOf }, colors, axis, x }: Drawing): void {
  axis.phases.forEach(({ t, state }, index) => {
    const until = axis.phases[index + 1]?.t ?? axis.durationMs;
    line(x(t), rows.phases.top, rows.phases.top + rows.phases.height, colors.muted);
    if (widthOf(state) + 10 < x(until) - x(t)) label(state, x(t) + 5, middleOf(rows.phases), colors.muted);
  });
}

function drawWave(drawing: Drawing, voice: Voice): void {
  const { pen, start, pxPerMs, width, colors, peaks, axis } = drawing;
  const { top, height } = rows[voice];
  const centre = top + height / 2;
  pen.line(gutter, centre, centre, colors.line, width);
  const last = Math.min(width - gutter, (axis.durationMs - start) * pxPerMs);
  const sizeAt = (column: number) => {
    const from = start + column / pxPerMs;
    // Makes soft speech visible as well.
    return peaks[voice](from, from + 1 / pxPerMs) ** 0.6 * (height / 2 - 4);
  };
  pen.columns(gutter, centre, last, sizeAt, colorOf(colors, voice));
}

function drawTurns({ pen, colors, axis, x }: Drawing, voice: Voice): void {
  const { top, height } = rows[voice];
  const strip = voice === 'out' ? rows.outTurns : rows.inTurns;
  const color = colorOf(colors, voice);
  const turns = axis.turns.filter((one) => one.voice === voice);
  for (const [index, turn] of turns.entries()) {
    const [left, right] = [x(turn.startMs), x(turn.endMs)];
    pen.box(left - 3, top, right - left + 6, height, color, 0.11);
    pen.fill(left, strip.top + 1, right - left, 2, color);
    if (turn.isOpen) continue;
    const length = secondsText(turn.endMs - turn.startMs);
    const room = x(turns[index + 1]?.startMs ?? Number.POSITIVE_INFINITY) - left - 8;
    const texts = turn.bargeIn ? [`${length}, talks over the AI`, length] : [length];
    const text = texts.find((one) => pen.widthOf(one) < room);
    if (text !== undefined)
      pen.label(text, left, middleOf(strip) + 2, turn.bargeIn ? colors.note : colors.ink);
  }
}

/** How long the user waited: from the end of a turn to the start of the reply. */
function drawWaits({ pen, colors, axis, x }: Drawing): void {
  for (const { afterMs, startMs } of axis.turns) {
    if (afterMs === null) continue;
    const y = (rows.outTurns.top + rows.outTurns.height + rows.in.top) / 2;
    const [left, right] = [x(startMs - afterMs), x(startMs)];
    pen.dashed(left, y, right, colors.muted);
    pen.line(left, y - 5, y + 5, colors.muted);
    pen.line(right, y - 5, y + 5, colors.muted);
    const text = `${Math.round(afterMs)} ms`;
    const width = pen.widthOf(text);
    const at = (left + right - width) / 2;
    if (right - left < width + 8) continue;
    pen.fill(at - 4, y - 8, width + 8, 16, colors.panel);
    pen.label(text, at, y, colors.ink, 600);
  }
}

/** Where both speak: a band over both voices. */
function drawOverlaps({ pen, colors, axis, x }: Drawing): void {
  const [yours, theirs] = voices.map((voice) => axis.turns.filter((turn) => turn.voice === voice));
  const bottom = rows.in.top + rows.in.height;
  for (const { startMs, endMs } of findOverlaps(yours ?? [], theirs ?? []))
    pen.fill(
      x(startMs),
      rows.out.top,
      Math.max(2, x(endMs) - x(startMs)),
      bottom - rows.out.top,
      colors.note,
      0.18,
    );
}

function drawGaps({ pen, colors, axis, x }: Drawing): void {
  for (const { startMs, endMs } of axis.gaps) {
    const [left, right] = [x(startMs), Math.max(x(endMs), x(startMs) + 2)];
    pen.fill(left, rows.in.top, right - left, rows.in.height, colors.bad, 0.22);
    pen.fill(left, rows.in.top, right - left, 2, colors.bad);
    const text = `${Math.round(endMs - startMs)} ms`;
    const at = (left + right - pen.widthOf(text)) / 2;
    const isFree = axis.turns.every((turn) => {
      const labelled = turn.voice === 'in' ? x(turn.startMs) : Number.NaN;
      return !(at < labelled + 60 && at + pen.widthOf(text) > labelled);
    });
    if (isFree) pen.label(text, at, middleOf(rows.inTurns) + 2, colors.bad, 600);
  }
}

/** What was spoken, according to the service, over the voice that spoke, where there is room. */
function drawSpoken({ pen, start, end, colors, axis, x }: Drawing): void {
  for (const voice of voices) {
    const lines = axis.spoken.filter(({ who }) => (who === 'you') === (voice === 'out'));
    for (const [index, { t, text }] of lines.entries()) {
      const untilMs = lines[index + 1]?.t ?? Number.POSITIVE_INFINITY;
      if (t > end || untilMs < start) continue;
      const shown = pen.fitted(text, Math.min(mostSpokenPx, x(untilMs) - x(t) - 10));
      if (shown === '') continue;
      const y = rows[voice].top + 9;
      pen.fill(x(t), y - 8, pen.widthOf(shown) + 6, 16, colors.panel, 0.85);
      pen.label(shown, x(t) + 3, y, colors.ink);
    }
  }
}

const mostSpokenPx = 420;

function drawArrivals({ pen, start, colors, axis, x, end }: Drawing): void {
  let last = Number.NEGATIVE_INFINITY;
  for (const t of axis.arrivals) {
    if (t < start || t > end) continue;
    const at = Math.round(x(t));
    if (at > last) pen.fill(at, rows.arrivals.top + 3, 1, rows.arrivals.height - 6, colors.ai);
    last = at;
  }
}

function drawEventLines({ pen, colors, marks, x }: Drawing): void {
  for (const { t } of marks) pen.line(x(t), rows.out.top, rows.events.top + 6, colors.line);
}

function drawEvents({ pen, colors, marks, x }: Drawing): void {
  const y = rows.events.top + 10;
  const bySeverity = marks.toSorted(
    (a, b) => tonesBySeverity.indexOf(a.tone) - tonesBySeverity.indexOf(b.tone),
  );
  const taken: { from: number; to: number; line: number }[] = [];
  for (const { t, tone, name } of bySeverity) {
    const from = Math.max(gutter, x(t) - 5);
    const to = from + pen.widthOf(name) + 10;
    const line = [18, 32].find((own) =>
      taken.every((other) => own !== other.line || from >= other.to || to <= other.from),
    );
    if (line === undefined) continue;
    taken.push({ from, to, line });
    pen.label(name, from, y + line, colors[tone]);
  }
  for (const { t, tone } of bySeverity.toReversed()) pen.diamond(x(t), y, 6, colors[tone]);
}

function colorOf(colors: PictureView['colors'], voice: Voice): string | undefined {
  return voice === 'out' ? colors.you : colors.ai;
}

type Color = string | undefined;

/** What the picture is drawn with. Positions are CSS pixels. */
interface Pen {
  label(text: string, x: number, y: number, color: Color, weight?: number): void;
  widthOf(text: string): number;
  /** As much of a text as fits; the rest is an ellipsis. */
  fitted(text: string, px: number): string;
  /** A vertical line, or with `toX` any other. */
  line(x: number, y: number, toY: number, color: Color, toX?: number): void;
  dashed(x: number, y: number, toX: number, color: Color): void;
  fill(x: number, y: number, width: number, height: number, color: Color, alpha?: number): void;
  /** Many columns of one pixel, around the same line: `size`: half the height of each. */
  columns(x: number, centre: number, count: number, size: (column: number) => number, color: Color): void;
  /** With round corners. */
  box(x: number, y: number, width: number, height: number, color: Color, alpha: number): void;
  diamond(x: number, y: number, size: number, color: Color): void;
}

function pen(context: CanvasRenderingContext2D): Pen {
  const use = (color: Color) => {
    context.fillStyle = color ?? 'gray';
    context.strokeStyle = color ?? 'gray';
  };
  const line: Pen['line'] = (x, y, toY, color, toX = x) => {
    use(color);
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(Math.round(x) + 0.5, Math.round(y) + 0.5);
    context.lineTo(Math.round(toX) + 0.5, Math.round(toY) + 0.5);
    context.stroke();
  };
  const widthOf = (text: string) => {
    context.font = '600 12px system-ui, sans-serif';
    return context.measureText(text).width;
  };
  return {
    line,
    widthOf,
    fitted(text, px) {
      const width = widthOf(text);
      const count = Math.floor((text.length * px) / width) - 1;
      return width <= px ? text : count < 3 ? '' : `${cutText(text, count)}…`;
    },
    label(text, x, y, color, weight = 400) {
      context.font = `${weight} 12px system-ui, sans-serif`;
      use(color);
      context.fillText(text, x, y);
    },
    dashed(x, y, toX, color) {
      context.setLineDash([3, 3]);
      line(x, y, y, color, toX);
      context.setLineDash([]);
    },
    fill(x, y, width, height, color, alpha = 1) {
      use(color);
      context.globalAlpha = alpha;
      context.fillRect(x, y, width, height);
      context.globalAlpha = 1;
    },
    columns(x, centre, count, size, color) {
      use(color);
      for (let column = 0; column < count; column += 1) {
        const half = size(column);
        if (half > 0.4) context.fillRect(x + column, centre - half, 1, 2 * half);
      }
    },
    box(x, y, width, height, color, alpha) {
      use(color);
      context.globalAlpha = alpha;
      context.beginPath();
      context.roundRect(x, y, Math.max(0, width), height, 6);
      context.fill();
      context.globalAlpha = 1;
    },
    diamond(x, y, size, color) {
      use(color);
      context.beginPath();
      context.moveTo(x, y - size);
      context.lineTo(x + size, y);
      context.lineTo(x, y + size);
      context.lineTo(x - size, y);
      context.fill();
    },
  };
}

/** Where each row of the picture stands, in pixels from the top. */
const rows = {
  axis: { top: 0, height: 24 },
  phases: { top: 24, height: 20 },
  out: { top: 50, height: 104 },
  outTurns: { top: 158, height: 20 },
  in: { top: 190, height: 104 },
  inTurns: { top: 298, height: 20 },
  arrivals: { top: 324, height: 14 },
  events: { top: 344, height: 40 },
};
export const pictureHeight = 388;
/** Room for the names of the rows. */
export const gutter = 64;

const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 3e4, 6e4, 12e4, 3e5, 6e5];

/**
 * Draws the part of the picture that is in view. `view`: `width` of the canvas, `start` in ms at its left edge
 * behind the gutter, `pxPerMs`; `colors` by name; `data` of the page; `peaks` of both voices.
 */
export function drawPicture(context, view) {
  const { width, colors } = view;
  const x = (ms) => gutter + (ms - view.start) * view.pxPerMs;
  context.clearRect(0, 0, width, pictureHeight);
  context.textBaseline = 'middle';
  context.save();
  context.beginPath();
  context.rect(gutter, 0, width - gutter, pictureHeight);
  context.clip();
  drawAxis(context, view, x);
  drawPhases(context, view, x);
  drawEventLines(context, view, x);
  for (const voice of ['out', 'in']) {
    drawTurns(context, view, x, voice);
    drawWave(context, view, voice);
  }
  drawGaps(context, view, x);
  drawWaits(context, view, x);
  drawArrivals(context, view, x);
  drawEvents(context, view, x);
  context.restore();
  const names = { out: 'You', in: 'AI', arrivals: 'arrivals', events: 'events' };
  for (const [row, name] of Object.entries(names)) {
    const isVoice = row === 'out' || row === 'in';
    label(
      context,
      name,
      14,
      middle(rows[row]),
      isVoice ? colorOf(colors, row) : colors.muted,
      isVoice ? 600 : 400,
    );
  }
}

function drawAxis(context, { start, pxPerMs, width, colors, data }, x) {
  const step = steps.find((one) => one * pxPerMs >= 70) ?? 6e5;
  const end = Math.min(data.durationMs, start + (width - gutter) / pxPerMs);
  for (let at = Math.floor(start / step) * step; at <= end; at += step) {
    if (at < 0) continue;
    line(context, x(at), rows.axis.height - 5, pictureHeight, colors.line);
    label(context, timeText(at, step), x(at) + 4, middle(rows.axis), colors.muted);
  }
}

function drawPhases(context, { colors, data }, x) {
  data.phases.forEach(({ t, state }, index) => {
    const end = data.phases[index + 1]?.t ?? data.durationMs;
    line(context, x(t), rows.phases.top, rows.phases.top + rows.phases.height, colors.muted);
    if (textWidth(context, state) + 10 < x(end) - x(t))
      label(context, state, x(t) + 5, middle(rows.phases), colors.muted);
  });
}

function drawWave(context, { start, pxPerMs, width, colors, data, peaks }, voice) {
  const { top, height } = rows[voice];
  const centre = top + height / 2;
  const samplesPerPx = data.sampleRate / 1000 / pxPerMs;
  const first = (start / 1000) * data.sampleRate;
  line(context, gutter, centre, centre, colors.line, width);
  context.fillStyle = colorOf(colors, voice);
  for (let column = 0; column < width - gutter; column += 1) {
    const from = first + column * samplesPerPx;
    // Soft speech is to be seen as well.
    const size = peaks[voice](from, from + samplesPerPx) ** 0.6 * (height / 2 - 4);
    if (size > 0.4) context.fillRect(gutter + column, centre - size, 1, 2 * size);
  }
}

function drawTurns(context, { colors, data }, x, voice) {
  const { top, height } = rows[voice];
  const strip = rows[`${voice}Turns`];
  const turns = data.turns.filter((one) => one.voice === voice);
  for (const [index, turn] of turns.entries()) {
    const [left, right] = [x(turn.startMs), x(turn.endMs)];
    context.fillStyle = colorOf(colors, voice);
    context.globalAlpha = 0.11;
    box(context, left - 3, top, right - left + 6, height, 6);
    context.globalAlpha = 1;
    context.fillRect(left, strip.top + 1, right - left, 2);
    const texts = [turn.label, turn.label.split(',')[0]];
    const room = x(turns[index + 1]?.startMs ?? Number.POSITIVE_INFINITY) - left - 8;
    const text = texts.find((one) => textWidth(context, one) < room);
    if (text !== undefined) label(context, text, left, middle(strip) + 2, colors.ink);
  }
}

/** From the end of your turn to the begin of the answer: what the user waited. */
function drawWaits(context, { colors, data }, x) {
  for (const { afterMs, startMs } of data.turns) {
    if (afterMs === null) continue;
    const y = (rows.outTurns.top + rows.outTurns.height + rows.in.top) / 2;
    const [left, right] = [x(startMs - afterMs), x(startMs)];
    context.strokeStyle = colors.muted;
    context.setLineDash([3, 3]);
    line(context, left, y, y, colors.muted, right);
    context.setLineDash([]);
    line(context, left, y - 5, y + 5, colors.muted);
    line(context, right, y - 5, y + 5, colors.muted);
    const text = `${Math.round(afterMs)} ms`;
    const at = (left + right - textWidth(context, text)) / 2;
    if (right - left < textWidth(context, text) + 8) continue;
    context.fillStyle = colors.panel;
    context.fillRect(at - 4, y - 8, textWidth(context, text) + 8, 16);
    label(context, text, at, y, colors.ink, 600);
  }
}

function drawGaps(context, { colors, data }, x) {
  for (const { startMs, endMs } of data.gaps) {
    const [left, right] = [x(startMs), Math.max(x(endMs), x(startMs) + 2)];
    context.fillStyle = colors.bad;
    context.globalAlpha = 0.22;
    context.fillRect(left, rows.in.top, right - left, rows.in.height);
    context.globalAlpha = 1;
    context.fillRect(left, rows.in.top, right - left, 2);
    const text = `${Math.round(endMs - startMs)} ms`;
    const at = (left + right - textWidth(context, text)) / 2;
    const isFree = data.turns.every((turn) => {
      const labelled = turn.voice === 'in' ? x(turn.startMs) : Number.NaN;
      return !(
        at < labelled + textWidth(context, turn.label) + 8 && at + textWidth(context, text) > labelled
      );
    });
    if (isFree) label(context, text, at, middle(rows.inTurns) + 2, colors.bad, 600);
  }
}

function drawArrivals(context, { start, pxPerMs, width, colors, data }, x) {
  const end = start + (width - gutter) / pxPerMs;
  context.fillStyle = colors.ai;
  let last = Number.NEGATIVE_INFINITY;
  for (const t of data.arrivals) {
    if (t < start || t > end) continue;
    const at = Math.round(x(t));
    if (at > last) context.fillRect(at, rows.arrivals.top + 3, 1, rows.arrivals.height - 6);
    last = at;
  }
}

function drawEventLines(context, { colors, data }, x) {
  for (const { t } of data.marks) line(context, x(t), rows.out.top, rows.events.top + 6, colors.line);
}

/** The gravest first: where names have no room side by side, theirs is the one that is shown. */
const gravity = ['bad', 'note', 'good', 'ink'];

function drawEvents(context, { width, colors, data }, x) {
  const y = rows.events.top + 10;
  const inView = data.marks.filter(({ t }) => x(t) > gutter - 10 && x(t) < width + 10);
  const taken = [];
  for (const { t, tone, name } of inView.toSorted(
    (a, b) => gravity.indexOf(a.tone) - gravity.indexOf(b.tone),
  )) {
    const from = Math.max(gutter, x(t) - 5);
    const to = from + textWidth(context, name) + 10;
    if (taken.some((other) => from < other.to && to > other.from)) continue;
    taken.push({ from, to });
    label(context, name, from, y + 18, colors[tone]);
  }
  for (const { t, tone } of inView.toSorted((a, b) => gravity.indexOf(b.tone) - gravity.indexOf(a.tone))) {
    context.fillStyle = colors[tone];
    context.beginPath();
    for (const [dx, dy] of [
      [0, -6],
      [6, 0],
      [0, 6],
      [-6, 0],
    ])
      context.lineTo(x(t) + dx, y + dy);
    context.fill();
  }
}

function colorOf(colors, voice) {
  return voice === 'out' ? colors.you : colors.ai;
}

function middle({ top, height }) {
  return top + height / 2;
}

function label(context, text, x, y, color, weight = 400) {
  context.font = `${weight} 12px system-ui, sans-serif`;
  context.fillStyle = color;
  context.fillText(text, x, y);
}

function textWidth(context, text) {
  context.font = '600 12px system-ui, sans-serif';
  return context.measureText(text).width;
}

/** A vertical line, or with `toX` any other. */
function line(context, x, y, toY, color, toX = x) {
  context.strokeStyle = color;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(Math.round(x) + 0.5, Math.round(y) + 0.5);
  context.lineTo(Math.round(toX) + 0.5, Math.round(toY) + 0.5);
  context.stroke();
}

function box(context, x, y, width, height, radius) {
  context.beginPath();
  context.roundRect(x, y, Math.max(0, width), height, radius);
  context.fill();
}

/** Minutes and seconds, with as many decimals as `step` (ms) asks for. */
export function timeText(ms, step = 1) {
  const decimals = step >= 1000 ? 0 : step >= 100 ? 1 : step >= 10 ? 2 : 3;
  const minutes = Math.floor(ms / 60_000);
  const seconds = ((ms % 60_000) / 1000).toFixed(decimals).padStart(decimals === 0 ? 2 : decimals + 3, '0');
  return `${minutes}:${seconds}`;
}

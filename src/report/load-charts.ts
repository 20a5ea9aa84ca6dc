import type { Bar, SecondSummary } from '../runs/load/summary.ts';
import { type Html, html } from './html.ts';
import { msText } from './load-lines.ts';

const width = 720;
const height = 160;
const left = 64;
const bottom = 24;
const top = 8;

/** A distribution: bars of equal width on a logarithmic axis of time. What did not finish stands on top. */
export function distributionChart(name: string, bars: readonly Bar[]): Html {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  const each = (width - left) / bars.length;
  const up = (count: number) => (count / most) * (height - top);
  return frame(`Distribution of ${name}`, [
    ...bars.map(({ fromMs, toMs, count, unfinished }, index) => {
      const x = round(left + index * each);
      const w = round(Math.max(1, each - 1));
      const finished = up(count - unfinished);
      return html`<g><title>${msText(fromMs)} – ${msText(toMs)}: ${count}</title>
<rect class="bar" x="${x}" y="${round(height - finished)}" width="${w}" height="${round(finished)}"/>
<rect class="open" x="${x}" y="${round(height - up(count))}" width="${w}" height="${round(up(count) - finished)}"/></g>`;
    }),
    ...logTicks(bars).map(({ at, ms }) => tick(left + at * (width - left), msText(ms))),
    level(most, String(most)),
  ]);

  function level(value: number, text: string): Html {
    return html`<text x="${left - 6}" y="${round(height - up(value) + 10)}" text-anchor="end">${text}</text>`;
  }
}

/** Decades, and twice and five times them, that lie within the bars; `at` is from 0 to 1. */
function logTicks(bars: readonly Bar[]): { at: number; ms: number }[] {
  const [low, high] = [bars[0]?.fromMs ?? 1, bars.at(-1)?.toMs ?? 1];
  const decades = Array.from({ length: 12 }, (_, index) => 10 ** (index - 4));
  const all = decades
    .flatMap((decade) => [decade, 2 * decade, 5 * decade])
    .filter((ms) => ms > low && ms < high);
  if (all.length < 2) {
    return [
      { at: 0, ms: low },
      { at: 0.9, ms: high },
    ];
  }
  return all.map((ms) => ({ at: Math.log(ms / low) / Math.log(high / low), ms }));
}

/** One line of a chart over time. */
export interface Line {
  name: string;
  class: string;
  value: (second: SecondSummary) => number | undefined;
}

/** Lines over the seconds of a run. A second without a value is a hole in its line. */
export function seriesChart(
  title: string,
  seconds: readonly SecondSummary[],
  { lines, format }: { lines: readonly Line[]; format: (value: number) => string },
): Html {
  const values = lines.map(({ value }) => seconds.map(value));
  const most = Math.max(1e-9, ...values.flat().filter((value) => value !== undefined));
  const x = (index: number) => round(left + (index / Math.max(1, seconds.length - 1)) * (width - left - 4));
  const y = (value: number) => round(height - (value / most) * (height - top));
  return html`<h3>${title}</h3>
<p class="legend">${lines.map(({ name, class: kind }) => html`<span class="${kind}">■</span> ${name} `)}</p>
${frame(title, [
  ...lines.map(({ class: kind }, line) => {
    let isDown = true;
    const path = (values[line] ?? []).map((value, index) => {
      if (value === undefined) {
        isDown = true;
        return '';
      }
      const move = isDown ? 'M' : 'L';
      isDown = false;
      return `${move}${x(index)} ${y(value)}`;
    });
    // A single point is a dot.
    return html`<path class="line ${kind}" d="${path.join('')}" stroke-linecap="round"/>`;
  }),
  html`<text x="${left - 6}" y="${top + 10}" text-anchor="end">${format(most)}</text>`,
  html`<text x="${left - 6}" y="${height}" text-anchor="end">0</text>`,
  tick(left, '0 s'),
  tick(width - 24, `${seconds.length} s`),
])}`;
}

function frame(title: string, parts: readonly Html[]): Html {
  return html`<svg viewBox="0 0 ${width} ${height + bottom}" role="img" aria-label="${title}">
<line class="axis" x1="${left}" y1="${height}" x2="${width}" y2="${height}"/>
${parts}
</svg>
`;
}

function tick(x: number, text: string): Html {
  return html`<text x="${round(x)}" y="${height + 16}" text-anchor="middle">${text}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

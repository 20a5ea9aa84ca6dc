import { median } from './measure/statistics.js';

/** @typedef {import('./measure/turns.js').Outcome} Outcome */

/**
 * What a benchmark came to: medians, the ratio of these, and the spread of the ratios of the pairs.
 *
 * @param {Outcome} outcome
 */
export function summarise({ program, floor, goal, skipped, ...rest }) {
  const ratios = program.flatMap((value, at) => {
    const other = floor[at];
    return other === undefined ? [] : [value / other];
  });
  const value = median(program);
  const ratio = floor.length === 0 ? undefined : value / median(floor);
  const judged = goal.of === 'ratio' ? ratio : value;
  const isMet =
    skipped !== undefined || judged === undefined
      ? undefined
      : (goal.atMost === undefined || judged <= goal.atMost) &&
        (goal.atLeast === undefined || judged >= goal.atLeast);
  return {
    ...rest,
    goal: goal.text,
    isMet,
    skipped,
    program: value,
    programSpread: [Math.min(...program), Math.max(...program)],
    floor: floor.length === 0 ? undefined : median(floor),
    ratio,
    ratioSpread: ratios.length === 0 ? undefined : [Math.min(...ratios), Math.max(...ratios)],
    turns: program.length,
  };
}

/** @typedef {ReturnType<typeof summarise>} Summary */

const heads = ['figure', 'program', 'floor', 'ratio (of pairs)', 'goal', ''];

/**
 * The rows of the table, as text.
 *
 * @param {Summary} summary
 */
export function cellsOf({
  figure,
  unit,
  floorName,
  program,
  programSpread,
  floor,
  ratio,
  ratioSpread,
  goal,
  isMet,
  skipped,
  limits,
}) {
  if (skipped !== undefined) return [figure, `skipped: ${skipped}`, '', '', goal, ''];
  const [low = 0, high = 0] = ratioSpread ?? [];
  const [least = 0, greatest = 0] = programSpread;
  return [
    figure,
    `${withUnit(program, unit)}${floor === undefined ? ` (${round(least)} – ${round(greatest)})` : ''}`,
    floor === undefined ? '–' : `${floorName}: ${withUnit(floor, unit)}`,
    ratio === undefined ? '–' : `${ratio.toFixed(2)} (${low.toFixed(2)} – ${high.toFixed(2)})`,
    goal,
    [isMet ? 'yes' : 'no', ...new Set(limits)].join('; '),
  ];
}

/** @param {readonly Summary[]} summaries */
export function markdownTable(summaries) {
  const rows = [heads, heads.map(() => '---'), ...summaries.map(cellsOf)];
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** @param {readonly Summary[]} summaries */
export function textTable(summaries) {
  const rows = [heads, ...summaries.map(cellsOf)].map((cells) =>
    cells.map((cell) => cell.replaceAll('`', '')),
  );
  const widths = heads.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  return rows
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** @param {Summary} summary */
export function detailLine({ name, details }) {
  const texts = Object.entries(details ?? {}).map(
    ([key, value]) => `${key} ${typeof value === 'number' ? round(value) : value}`,
  );
  return `${name}: ${texts.join(', ')}`;
}

/** @param {number} value @param {string} unit */
function withUnit(value, unit) {
  return `${round(value)}${unit.startsWith('/') ? '' : ' '}${unit}`;
}

/** @param {number} value */
function round(value) {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-GB');
  return String(Number(value.toPrecision(3)));
}

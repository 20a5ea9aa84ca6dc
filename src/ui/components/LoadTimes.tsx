import { Box, Text } from 'ink';
import { percentText } from '../../protocol/count-text.ts';
import { msText } from '../../report/load-lines.ts';
import type { LiveLoad, LiveStatistic, LiveTimes } from '../../runs/load/live.ts';
import { maxCoreShare, maxLateMs } from '../../runs/load/validity.ts';
import { padStartTo, padTo } from '../cells.ts';
import { type HistoryName, type RunHistory, toColumns } from '../load-model.ts';
import { type Colour, colours, useGlyphs } from '../theme.ts';

interface LoadTimesProps {
  live: LiveLoad | undefined;
  history: RunHistory;
  width: number;
  lines: number;
  /** Whether the names of the columns are above them. */
  heading: boolean;
}

const nameWidth = 11;
const cellWidth = 10;
const narrowestSparkline = 8;
/** If not all fit, the first ones are shown. */
const byImportance: readonly HistoryName[] = [
  ...(['first-audio', 'response', 'token', 'sent late', 'open', 'jitter', 'back', 'yield'] as const),
  ...(['stops', 'talk-over', 'core', 'connect', 'gap', 'confirmed'] as const),
];

/** The times of the whole run so far, each with its 95th percentile over time, then open sessions and the core. */
export function LoadTimes({ live, history, width, lines, heading }: LoadTimesProps) {
  const statistics = statisticsFor(width);
  const sparkline = sparklineWidth(width, statistics.length);
  const { atLeast } = useGlyphs();
  const rows = rowsOf(live, lines, atLeast);
  const each = history.each === 1 ? 'second' : `${history.each} s`;
  return (
    <Box flexDirection="column">
      {heading && (
        <Text dimColor wrap="truncate">
          {padTo('', nameWidth)}
          {statistics.map((name) => padStartTo(name, cellWidth))}
          {sparkline === 0
            ? ''
            : `  ${[`p95 of each ${each}`, 'p95'].find((text) => text.length <= sparkline)}`}
        </Text>
      )}
      {rows.map(({ name, cells, isPast }) => (
        <Text key={name} wrap="truncate">
          {padTo(name, nameWidth)}
          <TimeCells cells={cells} statistics={statistics} isPast={isPast} />
          {sparkline > 0 && (
            <>
              {'  '}
              <Sparkline
                values={history.values[name] ?? []}
                width={sparkline}
                colour={isPast ? colours.bad : colourOf(name)}
              />
            </>
          )}
        </Text>
      ))}
    </Box>
  );
}

interface TimesRow {
  name: HistoryName;
  cells: Partial<Record<LiveStatistic, string>>;
  /** Beyond the limit at which a run becomes invalid. */
  isPast: boolean;
}

function TimeCells({
  cells,
  statistics,
  isPast,
}: Pick<TimesRow, 'cells' | 'isPast'> & { statistics: readonly LiveStatistic[] }) {
  const text = statistics.map((name) => padStartTo(cells[name] ?? '', cellWidth)).join('');
  return (
    <Text bold {...(isPast ? { color: colours.bad } : {})}>
      {text}
    </Text>
  );
}

function rowsOf(live: LiveLoad | undefined, lines: number, atLeast: string): TimesRow[] {
  if (live === undefined) return [];
  const rows: TimesRow[] = [
    ...live.times.map((times) => timesRow(times, atLeast)),
    { name: 'open', cells: { p50: String(live.last.open) }, isPast: false },
    ...(live.core === null
      ? []
      : [
          { name: 'core', cells: { p50: percentText(live.core) }, isPast: live.core > maxCoreShare } as const,
        ]),
  ];
  const kept = byImportance.filter((name) => rows.some((row) => row.name === name)).slice(0, lines);
  return rows.filter(({ name }) => kept.includes(name));
}

function timesRow({ metric, statistics }: LiveTimes, atLeast: string): TimesRow {
  const cells = Object.entries(statistics).map(([name, { ms, isLowerBound }]) => [
    name,
    `${isLowerBound ? atLeast : ''}${msText(ms)}`,
  ]);
  const isPast = metric === 'sent late' && statistics.p99.ms > maxLateMs;
  return { name: metric, cells: Object.fromEntries(cells), isPast };
}

function colourOf(name: HistoryName): Colour {
  return name === 'open' || name === 'core' || name === 'sent late' ? colours.you : colours.ai;
}

function statisticsFor(width: number): readonly LiveStatistic[] {
  if (width >= 70) return ['p50', 'p95', 'p99', 'max'];
  return width >= 50 ? ['p50', 'p95', 'p99'] : ['p50', 'p99'];
}

function sparklineWidth(width: number, statistics: number): number {
  const left = width - nameWidth - statistics * cellWidth - 2;
  return left < narrowestSparkline ? 0 : left;
}

interface SparklineProps {
  values: readonly (number | undefined)[];
  /** In cells. More values than that share columns; each shows the highest. */
  width: number;
  colour: Colour;
}

/** Values over time, scaled from 0 to the highest. A step without a value is a gap. */
function Sparkline({ values, width, colour }: SparklineProps) {
  const { levels } = useGlyphs();
  const columns = toColumns(values, width);
  const most = Math.max(0, ...columns.map((value) => value ?? 0));
  const text = columns.map((value) => {
    if (value === undefined) return ' ';
    const level = most === 0 ? 0 : Math.ceil((value / most) * levels.length) - 1;
    return levels[Math.max(0, level)] ?? ' ';
  });
  return <Text color={colour}>{text.join('')}</Text>;
}

import { Box, Text } from 'ink';
import type { FailureKind } from '../kernel/failure-kind.ts';
import { measuredText, thresholdLimitText } from '../report/load-lines.ts';
import type { LiveLoad } from '../runs/load/live.ts';
import type { JudgedThreshold } from '../runs/load/thresholds.ts';
import { cutTo, padTo } from './cells.ts';
import { AmountBars } from './components/AmountBars.tsx';
import { Bar } from './components/Bar.tsx';
import { type Count, CountLine } from './components/CountLine.tsx';
import { WatchedHead } from './components/Head.tsx';
import { LoadTimes } from './components/LoadTimes.tsx';
import { Divider } from './components/Rule.tsx';
import { footBand } from './foot-band.tsx';
import { type Band, emptyBand, layoutLoad, type Size } from './layout.ts';
import { listBands } from './list-bands.tsx';
import type { LoadModel } from './load-model.ts';
import { colours, useGlyphs } from './theme.ts';

/** The screen of a load run, from top to bottom. */
export function loadBands(model: LoadModel, terminal: Size): Band[] {
  const layout = layoutLoad(terminal, model);
  const { columns, hasHeadings, timeLines, thresholdLines, spaceLines } = layout;
  const { now, live, history, ended } = model;
  return [
    {
      name: 'head',
      lines: 1,
      on: [Math.floor((ended?.at ?? now) / 100), ended, model.isEnding],
      draw: () => <LoadHead model={model} width={columns} />,
    },
    {
      name: 'plan',
      lines: layout.planLines,
      on: [live?.counts.arrived, Math.floor(now / 1000), ended],
      draw: () => <PlanLine model={model} width={columns} />,
    },
    {
      name: 'counts',
      lines: 1,
      on: [live],
      draw: () => <CountLine counts={countsOf(live)} width={columns} />,
    },
    emptyBand('above times', spaceLines),
    {
      name: 'times',
      lines: Number(hasHeadings) + timeLines,
      on: [live],
      draw: () => (
        <LoadTimes live={live} history={history} width={columns} lines={timeLines} heading={hasHeadings} />
      ),
    },
    emptyBand('above thresholds', spaceLines),
    {
      name: 'thresholds heading',
      lines: Number(hasHeadings && thresholdLines > 0),
      on: [],
      draw: () => <Divider title="thresholds" width={columns} />,
    },
    {
      name: 'thresholds',
      lines: thresholdLines,
      on: [live],
      draw: () => (
        <ThresholdLines thresholds={live?.thresholds ?? []} width={columns} lines={thresholdLines} />
      ),
    },
    emptyBand('above list', spaceLines),
    ...listBands(model, { title: 'failures', width: columns, lines: layout.listLines }),
    footBand(model, columns),
  ];
}

function LoadHead({ model, width }: { model: LoadModel; width: number }) {
  const { ended, now, plan, live } = model;
  const isArriving = (live?.counts.arrived ?? 0) < plan.sessions;
  return (
    <WatchedHead
      model={model}
      doing={isArriving ? 'arriving' : 'all have arrived'}
      isWaiting={(ended?.at ?? now) < plan.startsAt}
      since={plan.startsAt}
      width={width}
    />
  );
}

/** The progress of the plan. */
function PlanLine({ model, width }: { model: LoadModel; width: number }) {
  const { live, plan, now, ended } = model;
  const seconds = Math.round(plan.longestMs / 1000);
  const elapsed = Math.max(0, Math.floor(((ended?.at ?? now) - plan.startsAt) / 1000));
  if (plan.sessions === 0) return <Text> </Text>;
  return (
    <AmountBars
      amounts={[
        { name: 'arrivals', used: live?.counts.arrived ?? 0, of: plan.sessions },
        { name: 'seconds at most', used: Math.min(seconds, elapsed), of: seconds },
      ]}
      width={width}
      lines={1}
    />
  );
}

const refusals: readonly FailureKind[] = [
  ...(['token-refused', 'stream-refused', 'rate-limited'] as const),
  ...(['too-many-connections', 'handshake'] as const),
];
const cuts: readonly FailureKind[] = ['stream-broken', 'service-error'];

/** How many sessions are in each state. */
function countsOf(live: LiveLoad | undefined): Count[] {
  const of = (kinds: readonly FailureKind[]) =>
    kinds.reduce((sum, kind) => sum + (live?.failures[kind] ?? 0), 0);
  const [refused, cut] = [of(refusals), of(cuts)];
  const { arrived = 0, done = 0, failed = 0, stopped = 0, dropped = 0 } = live?.counts ?? {};
  const rare: Count[] = [
    { name: 'failed otherwise', count: failed - refused - cut, colour: colours.bad },
    { name: 'stopped', count: stopped },
    { name: 'dropped', count: dropped, colour: colours.bad },
  ];
  return [
    { name: 'open', count: live?.last.open ?? 0, colour: colours.good },
    { name: 'started', count: arrived },
    { name: 'done', count: done },
    { name: 'refused', count: refused, colour: colours.bad },
    { name: 'cut', count: cut, colour: colours.bad },
    ...rare.filter(({ count }) => count > 0),
  ];
}

interface ThresholdLinesProps {
  thresholds: readonly JudgedThreshold[];
  width: number;
  lines: number;
}

const narrowestBar = 6;
const widestBar = 24;
const valueWidth = 12;

/** Each threshold with its value and its limit. If there is no room for all, the crossed ones come first. */
function ThresholdLines({ thresholds, width, lines }: ThresholdLinesProps) {
  const crossed = thresholds.filter(({ holds }) => !holds);
  const first =
    thresholds.length <= lines ? thresholds : [...crossed, ...thresholds.filter(({ holds }) => holds)];
  const shown = first.slice(0, lines);
  const nameWidth = Math.min(Math.max(...shown.map(({ text }) => text.length)), Math.floor(width / 2) - 4);
  return (
    <Box flexDirection="column">
      {shown.map((threshold) => (
        <ThresholdLine key={threshold.text} {...{ threshold, nameWidth, width }} />
      ))}
    </Box>
  );
}

interface ThresholdLineProps extends Pick<ThresholdLinesProps, 'width'> {
  threshold: JudgedThreshold;
  nameWidth: number;
}

function ThresholdLine({ threshold, nameWidth, width }: ThresholdLineProps) {
  const { passed, failed, dot, ...glyphs } = useGlyphs();
  const { text, holds, value, limit } = threshold;
  const show = (words: string) => glyphs.show(words, width);
  const colour = holds ? colours.good : value === null ? colours.warning : colours.bad;
  const of = `of ${thresholdLimitText(threshold)}`;
  const measured = padTo(show(value === null ? 'no value yet' : measuredText(threshold)), valueWidth);
  const bar = Math.min(widestBar, width - nameWidth - valueWidth - of.length - 6);
  return (
    <Text wrap="truncate">
      <Text color={colour}>{holds ? passed : value === null ? dot : failed}</Text>{' '}
      {padTo(cutTo(show(text), nameWidth), nameWidth)}
      {'  '}
      <Text bold>{measured}</Text>{' '}
      {bar >= narrowestBar && (
        <>
          <Bar value={value === null ? 0 : share(value, limit)} width={bar} colour={colour} />{' '}
        </>
      )}
      <Text dimColor>{show(of)}</Text>
    </Text>
  );
}

function share(value: number, limit: number): number {
  return limit === 0 ? (value === 0 ? 0 : 1) : value / limit;
}

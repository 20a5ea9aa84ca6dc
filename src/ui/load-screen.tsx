import { Text } from 'ink';
import { type Band, space } from './bands.ts';
import { AmountBars } from './components/AmountBars.tsx';
import { Head } from './components/Head.tsx';
import { LoadCounts } from './components/LoadCounts.tsx';
import { LoadTimes } from './components/LoadTimes.tsx';
import { Rule } from './components/Rule.tsx';
import { ThresholdLines } from './components/ThresholdLines.tsx';
import { footBand } from './foot-band.tsx';
import type { Size } from './layout.ts';
import { listBands } from './list-bands.tsx';
import { layoutLoad } from './load-layout.ts';
import type { LoadModel } from './load-model.ts';

/** The screen of a load run, from top to bottom. */
export function loadBands(model: LoadModel, terminal: Size): Band[] {
  const layout = layoutLoad(terminal, model);
  const { columns, plan, headings, timeLines, thresholdLines, spaces, listLines } = layout;
  const { start, now, live, past, ended } = model;
  return [
    {
      name: 'head',
      lines: 1,
      on: [Math.floor((ended?.at ?? now) / 100), ended, model.isEnding],
      draw: () => <LoadHead model={model} width={columns} />,
    },
    ...(plan
      ? [
          {
            name: 'plan',
            lines: 1,
            on: [live?.counts.arrived, Math.floor(now / 1000), ended],
            draw: () => <PlanLine model={model} width={columns} />,
          },
        ]
      : []),
    { name: 'counts', lines: 1, on: [live], draw: () => <LoadCounts live={live} /> },
    ...(spaces ? [space('above times', 1)] : []),
    {
      name: 'times',
      lines: Number(headings) + timeLines,
      on: [live],
      draw: () => <LoadTimes live={live} past={past} width={columns} lines={timeLines} heading={headings} />,
    },
    ...(spaces ? [space('above thresholds', 1)] : []),
    ...(headings && thresholdLines > 0
      ? [
          {
            name: 'thresholds heading',
            lines: 1,
            on: [live?.thresholds.length],
            draw: () => <Rule title="thresholds" width={columns} />,
          },
        ]
      : []),
    {
      name: 'thresholds',
      lines: thresholdLines,
      on: [live],
      draw: () => (
        <ThresholdLines
          thresholds={live?.thresholds ?? []}
          width={columns}
          lines={thresholdLines}
          isAscii={start.ascii}
        />
      ),
    },
    ...(spaces ? [space('above list', 1)] : []),
    ...listBands(model, { title: 'failures', width: columns, lines: listLines }),
    footBand(model, columns),
  ];
}

function LoadHead({ model, width }: { model: LoadModel; width: number }) {
  const { start, ended, isEnding, now, plan, live } = model;
  const elapsed = (ended?.at ?? now) - plan.startsAt;
  const isWaiting = elapsed < 0;
  const isArriving = (live?.counts.arrived ?? 0) < plan.sessions;
  return (
    <Head
      command={start.screen}
      subject={start.subject}
      state={
        ended?.text ??
        (isEnding ? 'ending' : isWaiting ? 'waiting' : isArriving ? 'arriving' : 'all have arrived')
      }
      stateKind={
        ended === undefined ? (isWaiting || isEnding ? 'pending' : 'live') : ended.ok ? 'done' : 'failed'
      }
      elapsedMs={Math.abs(elapsed)}
      width={width}
      isAscii={start.ascii}
    />
  );
}

/** How far the plan is. */
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

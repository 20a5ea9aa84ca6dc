import { Box } from 'ink';
import { type Band, space } from './bands.ts';
import { CounterLine } from './components/CounterLine.tsx';
import { DevicesPanel } from './components/DevicesPanel.tsx';
import { Head } from './components/Head.tsx';
import { StreamsPanel } from './components/StreamsPanel.tsx';
import { UrlLines } from './components/UrlLines.tsx';
import { footBand } from './foot-band.tsx';
import { halves, layoutServe, type Size } from './layout.ts';
import { listBands } from './list-bands.tsx';
import type { ServeModel } from './serve-model.ts';

/** The screen of the emulator, from top to bottom. */
export function serveBands(model: ServeModel, terminal: Size): Band[] {
  const layout = layoutServe(terminal, model.most);
  const { columns, urlLines, isWide, deviceLines, streamLines, listLines } = layout;
  const { left, right, gap } = halves(columns, 0.42);
  const { now, state, meters, counters, panel, stream, device } = model;
  const faults = state?.faults ?? [];
  const streamsOn = [state, meters, Math.floor(now / meterStepMs), panel, stream, device];
  const side: Band = {
    name: 'panels',
    lines: 1 + streamLines,
    on: streamsOn,
    draw: () => (
      <Box columnGap={gap}>
        <DevicesPanel model={model} width={left} lines={deviceLines} />
        <StreamsPanel model={model} width={right} lines={streamLines} />
      </Box>
    ),
  };
  const stacked: Band[] = [
    ...(deviceLines > 0
      ? [
          {
            name: 'devices',
            lines: 1 + deviceLines,
            on: [state, panel, device],
            draw: () => <DevicesPanel model={model} width={columns} lines={deviceLines} />,
          },
        ]
      : []),
    {
      name: 'streams',
      lines: 1 + streamLines,
      on: streamsOn,
      draw: () => <StreamsPanel model={model} width={columns} lines={streamLines} />,
    },
  ];
  return [
    {
      name: 'head',
      lines: 1,
      on: [Math.floor(now / 100), state?.clock.aheadMs, model.isStopping],
      draw: () => <ServeHead model={model} width={columns} />,
    },
    ...(urlLines > 0
      ? [
          {
            name: 'urls',
            lines: urlLines,
            on: [model.addresses],
            draw: () => <UrlLines addresses={model.addresses} width={columns} lines={urlLines} />,
          },
        ]
      : []),
    {
      name: 'counters',
      lines: 1,
      on: [counters, faults.map(({ id }) => id).join()],
      draw: () => <CounterLine counters={counters} faults={faults.map(({ name }) => name)} />,
    },
    ...(layout.spaces ? [space('above panels', 1)] : []),
    ...(isWide ? [side] : stacked),
    ...(layout.spaces ? [space('above journal', 1)] : []),
    ...listBands(model, {
      title: 'journal',
      width: columns,
      lines: listLines,
      isFocused: panel === 'events',
    }),
    ...(layout.spaces ? [space('above foot', 1)] : []),
    footBand(model, columns),
  ];
}

/** Meters that nothing raises fall in steps of this. */
const meterStepMs = 250;

function ServeHead({ model, width }: { model: ServeModel; width: number }) {
  const { start, state, isStopping, now } = model;
  const aheadMs = state?.clock.aheadMs ?? 0;
  const ahead = aheadMs === 0 ? '' : `, clock +${aheadMs / 1000} s`;
  return (
    <Head
      command={start.command ?? 'serve'}
      subject={`${start.subject}${ahead}`}
      state={isStopping ? 'stopping' : state === undefined ? 'starting' : 'listening'}
      stateKind={isStopping || state === undefined ? 'pending' : 'live'}
      elapsedMs={now}
      width={width}
      isAscii={start.ascii}
    />
  );
}

import { Box, Text } from 'ink';
import { counterTexts, type ServeCounters } from '../report/serve-counters.ts';
import { type Band, space } from './bands.ts';
import { cutTo } from './cells.ts';
import { DevicesPanel } from './components/DevicesPanel.tsx';
import { Head } from './components/Head.tsx';
import { StreamsPanel } from './components/StreamsPanel.tsx';
import { footBand } from './foot-band.tsx';
import { halves, layoutServe, type Size } from './layout.ts';
import { listBands } from './list-bands.tsx';
import type { Addresses, ServeModel } from './serve-model.ts';
import { colours, useGlyphs } from './theme.ts';

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

/** Counts of what has happened, and the active faults. */
function CounterLine({ counters, faults }: { counters: ServeCounters; faults: readonly string[] }) {
  const { dot, ellipsis } = useGlyphs();
  return (
    <Text wrap="truncate">
      {faults.length > 0 && (
        <Text>
          <Text color={colours.warning} bold>
            !
          </Text>{' '}
          <Text bold>{faults.length}</Text> <Text dimColor>active:</Text>{' '}
          {cutTo(faults.join(', '), 24, ellipsis)} <Text dimColor>{dot}</Text>{' '}
        </Text>
      )}
      {counterTexts(counters).map((text, index) => (
        <Text key={text.replace(/^\d+ /, '')}>
          {index === 0 ? '' : <Text dimColor> {dot} </Text>}
          <Text bold>{text.split(' ')[0]}</Text> <Text dimColor>{text.split(' ')[1]}</Text>
        </Text>
      ))}
    </Text>
  );
}

/** The addresses of the emulator, and a command to try. */
function UrlLines({
  addresses,
  width,
  lines,
}: {
  /** Undefined until it listens. */
  addresses: Addresses | undefined;
  width: number;
  lines: number;
}) {
  const { ellipsis } = useGlyphs();
  const { tokenUrl, streamUrl, page, curl } = addresses ?? { tokenUrl: '', streamUrl: '', curl: '' };
  const rows: [label: string, text: string][] = [
    ['token', tokenUrl],
    ['stream', streamUrl],
    ...(page === undefined ? [] : [['page', page] satisfies [string, string]]),
    ['try', curl],
  ];
  return (
    <Box flexDirection="column">
      {rows.slice(0, lines).map(([label, text]) => (
        <Text key={label} wrap="truncate">
          <Text dimColor>{label.padEnd(7)}</Text>
          {cutTo(text, width - 7, ellipsis)}
        </Text>
      ))}
    </Box>
  );
}

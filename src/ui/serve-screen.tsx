import { Box, Text } from 'ink';
import { escapeText } from '../kernel/escape.ts';
import type { EmulatorState } from '../protocol/control.ts';
import { countersShown, type ServeCounters } from '../report/serve-counters.ts';
import { cutTo, padNameTo, padStartTo, widthOf } from './cells.ts';
import { Bar } from './components/Bar.tsx';
import { CountLine } from './components/CountLine.tsx';
import { durationText, Head } from './components/Head.tsx';
import { partOf } from './components/LevelMeter.tsx';
import { Divider, shownNote } from './components/Rule.tsx';
import { footBand } from './foot-band.tsx';
import { type Band, emptyBand, firstShown, layoutServe, type Size, splitColumns } from './layout.ts';
import { listBands } from './list-bands.tsx';
import { readMeter, restingMeter } from './meter.ts';
import {
  devicesInOrder,
  markedDevice,
  markedStream,
  type ServeAddresses,
  type ServeModel,
} from './serve-model.ts';
import { type Colour, colours, useGlyphs } from './theme.ts';

/** The screen of the emulator, from top to bottom. */
export function serveBands(model: ServeModel, terminal: Size): Band[] {
  const layout = layoutServe(terminal, model.most);
  const { columns, urlLines, deviceLines, streamLines, spaceLines } = layout;
  const { left, right, gap } = splitColumns(columns, 0.42);
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
    {
      name: 'devices',
      lines: deviceLines === 0 ? 0 : 1 + deviceLines,
      on: [state, panel, device],
      draw: () => <DevicesPanel model={model} width={columns} lines={deviceLines} />,
    },
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
    {
      name: 'urls',
      lines: urlLines,
      on: [model.addresses],
      draw: () => <UrlLines addresses={model.addresses} width={columns} lines={urlLines} />,
    },
    {
      name: 'counters',
      lines: 1,
      on: [counters, faults.map(({ id }) => id).join()],
      draw: () => <CounterLine counters={counters} faults={faults.map(({ name }) => name)} width={columns} />,
    },
    emptyBand('above panels', spaceLines),
    ...(layout.isWide ? [side] : stacked),
    emptyBand('above journal', spaceLines),
    ...listBands(model, {
      title: 'journal',
      width: columns,
      lines: layout.listLines,
      isFocused: panel === 'events',
    }),
    emptyBand('above foot', spaceLines),
    footBand(model, columns),
  ];
}

/** Meters without new audio fall in steps of this. */
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
    />
  );
}

/** Counts of what has happened, and the active faults. */
function CounterLine({
  counters,
  faults,
  width,
}: {
  counters: ServeCounters;
  faults: readonly string[];
  width: number;
}) {
  const { dot } = useGlyphs();
  const names = cutTo(faults.join(', '), 24);
  const taken = faults.length === 0 ? 0 : 14 + String(faults.length).length + widthOf(names);
  return (
    <CountLine counts={countersShown(counters)} width={width - taken}>
      {faults.length > 0 && (
        <Text>
          <Text color={colours.warning} bold>
            !
          </Text>{' '}
          <Text bold>{faults.length}</Text> <Text dimColor>active:</Text> {names} <Text dimColor>
            {dot}
          </Text>{' '}
        </Text>
      )}
    </CountLine>
  );
}

/** The addresses of the emulator, and a command to try. */
function UrlLines({
  addresses,
  width,
  lines,
}: {
  /** Undefined until it listens. */
  addresses: ServeAddresses | undefined;
  width: number;
  lines: number;
}) {
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
          {cutTo(text, width - 7)}
        </Text>
      ))}
    </Box>
  );
}

/** The devices, with their connections and requests. */
function DevicesPanel({ model, width, lines }: { model: ServeModel; width: number; lines: number }) {
  const devices = devicesInOrder(model);
  const marked = markedDevice(model);
  const at = devices.findIndex(({ device }) => device === marked?.device);
  const isFocused = model.panel === 'devices';
  const top = isFocused ? firstShown(at, lines, devices.length) : 0;
  const shown = devices.slice(top, top + lines);
  return (
    <Box flexDirection="column" width={width}>
      <Divider
        title="devices"
        note={shownNote(top, shown.length, devices.length)}
        width={width}
        isFocused={isFocused}
      />
      {shown.map((device) => (
        <DeviceLine
          key={device.device}
          device={device}
          model={model}
          width={width}
          isMarked={isFocused && device === marked}
        />
      ))}
    </Box>
  );
}

function DeviceLine({
  device: { device, connections, maxConnections, requests, limit, resetAt },
  model,
  width,
  isMarked,
}: {
  device: EmulatorState['devices'][number];
  model: ServeModel;
  width: number;
  isMarked: boolean;
}) {
  const { dash, show } = useGlyphs();
  const nameWidth = Math.max(8, Math.floor(width * 0.22));
  const barWidth = Math.max(3, Math.floor((width - nameWidth - 36) / 2));
  const leftMs =
    resetAt === null ? undefined : Date.parse(resetAt) - Date.parse(model.state?.clock.now ?? resetAt);
  return (
    <Text wrap="truncate">
      <Text inverse={isMarked}>{padNameTo(show(escapeText(device), nameWidth), nameWidth)}</Text>{' '}
      <Text dimColor>conn</Text> <UsedBar used={connections} of={maxConnections} width={barWidth} />
      {padStartTo(`${connections}/${maxConnections}`, 6)} <Text dimColor>window</Text>{' '}
      <UsedBar used={requests} of={limit} width={barWidth} />
      {padStartTo(`${requests}/${limit}`, 7)}
      {padStartTo(leftMs === undefined ? dash : `${Math.max(0, Math.ceil(leftMs / 1000))} s`, 6)}
    </Text>
  );
}

/** The used share of a limit. */
function UsedBar({ used, of, width }: { used: number; of: number; width: number }) {
  const share = of === 0 ? 1 : used / of;
  const colour = share >= 1 ? colours.bad : share > 0.75 ? colours.warning : colours.good;
  return <Bar value={share} width={width} colour={colour} />;
}

/** The open streams, each with its levels and the remarks about its device. */
function StreamsPanel({ model, width, lines }: { model: ServeModel; width: number; lines: number }) {
  const streams = model.state?.streams ?? [];
  const marked = markedStream(model);
  const at = streams.findIndex(({ stream }) => stream === marked?.stream);
  const top = firstShown(at, lines, streams.length);
  const shown = streams.slice(top, top + lines);
  return (
    <Box flexDirection="column" width={width}>
      <Divider
        title="streams"
        note={shownNote(top, shown.length, streams.length)}
        width={width}
        isFocused={model.panel === 'streams'}
      />
      {shown.map((state) => (
        <StreamLine
          key={state.stream}
          state={state}
          model={model}
          width={width}
          isMarked={state === marked}
        />
      ))}
    </Box>
  );
}

interface StreamLineProps {
  state: EmulatorState['streams'][number];
  model: ServeModel;
  width: number;
  isMarked: boolean;
}

function StreamLine({ state, model, width, isMarked }: StreamLineProps) {
  const { cursor, passed, device: up, service: down, ...glyphs } = useGlyphs();
  const { stream, device, durationMs } = state;
  const nameWidth = Math.max(8, Math.floor(width * 0.18));
  const meterWidth = Math.max(3, Math.floor(width * 0.1));
  const show = (text: string) => glyphs.show(text, width);
  const room = width - 21 - nameWidth - 2 * meterWidth;
  const remark = remarkText(state, room - 2);
  const meters = model.meters[stream] ?? { in: restingMeter, out: restingMeter };
  const level = (meter: typeof restingMeter, colour: Colour) => (
    <Bar value={partOf(readMeter(meter, model.now).rmsDbfs)} width={meterWidth} colour={colour} />
  );
  return (
    <Text wrap="truncate">
      <Text inverse={isMarked && model.panel === 'streams'}>
        {isMarked ? cursor : ' '}
        {padStartTo(String(stream), 4)} {padNameTo(show(escapeText(device ?? '(no token yet)')), nameWidth)}
      </Text>
      {padStartTo(durationText(durationMs), 8)}{' '}
      {widthOf(remark) > room - 2 ? null : (
        <>
          <Text dimColor>{up}</Text> {level(meters.in, colours.you)} <Text dimColor>{down}</Text>{' '}
          {level(meters.out, colours.ai)}{' '}
        </>
      )}
      {remark === '' ? (
        <Text>
          <Text color={colours.good}>{passed}</Text> ok
        </Text>
      ) : (
        <Text>
          <Text color={colours.warning} bold>
            !
          </Text>{' '}
          {cutTo(show(remark), widthOf(remark) > room - 2 ? room + 4 + 2 * meterWidth : room - 2)}
        </Text>
      )}
    </Text>
  );
}

/** The first remark about a device, or, if that does not fit, what to do about it; empty without a remark. */
function remarkText(
  { remarks: [remark = ''], advice }: EmulatorState['streams'][number],
  cells: number,
): string {
  return widthOf(remark) <= cells ? remark : (advice ?? remark);
}

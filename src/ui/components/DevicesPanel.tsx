import { Box, Text } from 'ink';
import { escapeText } from '../../kernel/escape.ts';
import type { EmulatorState } from '../../protocol/control.ts';
import { padStartTo, padTo, steady } from '../cells.ts';
import { toAscii } from '../glyphs.ts';
import type { ServeModel } from '../serve-model.ts';
import { colours, useGlyphs } from '../theme.ts';
import { Bar } from './Bar.tsx';
import { Rule } from './Rule.tsx';

/** Devices, with their used connections and requests. */
export function DevicesPanel({ model, width, lines }: { model: ServeModel; width: number; lines: number }) {
  const devices = model.state?.devices ?? [];
  // The busiest first: these reach their limits.
  const shown = devices
    .toSorted((a, b) => b.connections - a.connections || b.requests - a.requests)
    .slice(0, lines);
  const more = devices.length - shown.length;
  return (
    <Box flexDirection="column" width={width}>
      <Rule
        title="devices"
        note={more > 0 ? `${devices.length}, ${more} not shown` : String(devices.length)}
        width={width}
      />
      {shown.map((device) => (
        <DeviceLine key={device.device} device={device} model={model} width={width} />
      ))}
    </Box>
  );
}

function DeviceLine({
  device: { device, connections, maxConnections, requests, limit, resetAt },
  model,
  width,
}: {
  device: EmulatorState['devices'][number];
  model: ServeModel;
  width: number;
}) {
  const { ellipsis, dash } = useGlyphs();
  const nameWidth = Math.max(8, Math.floor(width * 0.22));
  const barWidth = Math.max(3, Math.floor((width - nameWidth - 36) / 2));
  const name = escapeText(device);
  const leftMs =
    resetAt === null ? undefined : Date.parse(resetAt) - Date.parse(model.state?.clock.now ?? resetAt);
  return (
    <Text wrap="truncate">
      {padTo(model.start.ascii ? toAscii(name) : steady(name, nameWidth), nameWidth, ellipsis)}{' '}
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

import { Box, Text } from 'ink';
import { escapeText } from '../../kernel/escape.ts';
import type { EmulatorState } from '../../protocol/control.ts';
import { padStartTo, padTo, steady } from '../cells.ts';
import { toAscii } from '../glyphs.ts';
import { devicesInOrder, markedDevice, type ServeModel } from '../serve-model.ts';
import { colours, useGlyphs } from '../theme.ts';
import { Bar } from './Bar.tsx';
import { Rule, shownNote } from './Rule.tsx';

/** Devices, with their used connections and requests. */
export function DevicesPanel({ model, width, lines }: { model: ServeModel; width: number; lines: number }) {
  const devices = devicesInOrder(model);
  const marked = markedDevice(model);
  const at = devices.findIndex(({ device }) => device === marked?.device);
  const isFocused = model.panel === 'devices';
  const top = isFocused ? Math.max(0, Math.min(devices.length - lines, at - Math.floor(lines / 2))) : 0;
  const shown = devices.slice(top, top + lines);
  return (
    <Box flexDirection="column" width={width}>
      <Rule
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
  const { ellipsis, dash } = useGlyphs();
  const nameWidth = Math.max(8, Math.floor(width * 0.22));
  const barWidth = Math.max(3, Math.floor((width - nameWidth - 36) / 2));
  const name = escapeText(device);
  const leftMs =
    resetAt === null ? undefined : Date.parse(resetAt) - Date.parse(model.state?.clock.now ?? resetAt);
  return (
    <Text wrap="truncate">
      <Text inverse={isMarked}>
        {padTo(model.start.ascii ? toAscii(name) : steady(name, nameWidth), nameWidth, ellipsis)}
      </Text>{' '}
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

import { Box, Text } from 'ink';
import { escapeText } from '../../kernel/escape.ts';
import type { EmulatorState } from '../../protocol/control.ts';
import { cutTo, padStartTo, padTo, steady } from '../cells.ts';
import { toAscii } from '../glyphs.ts';
import { readMeter, restingMeter } from '../meter.ts';
import { markedStream, type ServeModel } from '../serve-model.ts';
import { type Colour, colours, useGlyphs } from '../theme.ts';
import { Bar } from './Bar.tsx';
import { durationText } from './Head.tsx';
import { partOf } from './LevelMeter.tsx';
import { Rule, shownNote } from './Rule.tsx';

/** The open streams, each with its levels and the remarks about its device. */
export function StreamsPanel({ model, width, lines }: { model: ServeModel; width: number; lines: number }) {
  const streams = model.state?.streams ?? [];
  const marked = markedStream(model);
  const at = streams.findIndex(({ stream }) => stream === marked?.stream);
  const top = Math.max(0, Math.min(streams.length - lines, at - Math.floor(lines / 2)));
  const shown = streams.slice(top, top + lines);
  return (
    <Box flexDirection="column" width={width}>
      <Rule
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
  const { ellipsis, cursor, passed, device: up, service: down } = useGlyphs();
  const { stream, device, durationMs, remarks } = state;
  const nameWidth = Math.max(8, Math.floor(width * 0.18));
  const meterWidth = Math.max(3, Math.floor(width * 0.1));
  const show = (text: string) => (model.start.ascii ? toAscii(text) : steady(text, width));
  const room = width - 21 - nameWidth - 2 * meterWidth;
  const meters = model.meters[stream] ?? { in: restingMeter, out: restingMeter };
  const level = (meter: typeof restingMeter, colour: Colour) => (
    <Bar value={partOf(readMeter(meter, model.now).rmsDbfs)} width={meterWidth} colour={colour} />
  );
  return (
    <Text wrap="truncate">
      <Text inverse={isMarked && model.panel === 'streams'}>
        {isMarked ? cursor : ' '}
        {padStartTo(String(stream), 4)}{' '}
        {padTo(show(escapeText(device ?? '(no token yet)')), nameWidth, ellipsis)}
      </Text>
      {padStartTo(durationText(durationMs), 8)} <Text dimColor>{up}</Text> {level(meters.in, colours.you)}{' '}
      <Text dimColor>{down}</Text> {level(meters.out, colours.ai)}{' '}
      {remarks[0] === undefined ? (
        <Text>
          <Text color={colours.good}>{passed}</Text> ok
        </Text>
      ) : (
        <Text>
          <Text color={colours.warning} bold>
            !
          </Text>{' '}
          {cutTo(show(remarks[0]), room - 2, ellipsis)}
        </Text>
      )}
    </Text>
  );
}

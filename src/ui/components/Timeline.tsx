import { Box, Text } from 'ink';
import type { StreamModel } from '../stream-model.ts';
import { type Colour, colours, useGlyphs } from '../theme.ts';
import { type Axis, columnOf, readVoice, timelineSpanMs } from '../timeline.ts';
import { runs } from './Bar.tsx';
import { partOf } from './LevelMeter.tsx';
import { Rule } from './Rule.tsx';

interface TimelineProps {
  model: StreamModel;
  width: number;
  voiceLines: number;
  hasAxis: boolean;
}

const labelWidth = 4;
/** Quieter than this is silence. */
const audibleDbfs = -60;

/** The last half minute: both voices on one axis of time, with what went wrong between them. */
export function Timeline({ model, width, voiceLines, hasAxis }: TimelineProps) {
  const axis = {
    now: model.summary === undefined ? model.now : model.summary.t,
    columns: width - labelWidth,
  };
  const { out, in: incoming } = model.voices;
  return (
    <Box flexDirection="column">
      {hasAxis && <Rule title="speaking" note={`last ${timelineSpanMs / 1000} s`} width={width} />}
      <VoiceLines label="you" levels={readVoice(out, axis)} lines={voiceLines} colour={colours.you} />
      <VoiceLines label="AI" levels={readVoice(incoming, axis)} lines={voiceLines} colour={colours.ai} />
      {hasAxis && <AxisLine model={model} axis={axis} />}
    </Box>
  );
}

interface VoiceLinesProps {
  label: string;
  levels: readonly (number | undefined)[];
  lines: number;
  colour: Colour;
}

function VoiceLines({ label, levels, lines, colour }: VoiceLinesProps) {
  const { levels: steps, dot } = useGlyphs();
  const cellOf = (level: number | undefined, line: number) => {
    if (level === undefined) return ' ';
    if (level <= audibleDbfs) return line === lines - 1 ? dot : ' ';
    const height = Math.max(1, Math.round(partOf(level) * lines * steps.length));
    const inLine = Math.min(steps.length, height - (lines - 1 - line) * steps.length);
    return inLine <= 0 ? ' ' : (steps[inLine - 1] ?? ' ');
  };
  return (
    <>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
        <Text key={line} wrap="truncate">
          {(line === lines - 1 ? label : '').padEnd(labelWidth)}
          {runs(levels.length, (index) => (levels[index] ?? -100) > audibleDbfs).map(
            ({ from, until, value }) => {
              const text = levels
                .slice(from, until)
                .map((level) => cellOf(level, line))
                .join('');
              return value ? (
                <Text key={from} color={colour}>
                  {text}
                </Text>
              ) : (
                <Text key={from} dimColor>
                  {text}
                </Text>
              );
            },
          )}
        </Text>
      ))}
    </>
  );
}

/** Time, and marks where the user spoke over the AI and where the AI paused. */
function AxisLine({ model, axis }: { model: StreamModel; axis: Axis }) {
  const { bargeIn, gap, minus } = useGlyphs();
  const cells = Array.from({ length: axis.columns }, () => ' ');
  const put = (at: number, text: string) => {
    for (const [index, character] of [...text].entries()) cells[at + index] = character;
  };
  for (const seconds of [30, 20, 10]) {
    put(Math.round(axis.columns * (1 - (seconds * 1000) / timelineSpanMs)), `${minus}${seconds} s`);
  }
  put(axis.columns - 3, 'now');
  const marked = new Map<number, (typeof model.marks)[number]['what']>();
  for (const { t, what } of model.marks) {
    const column = columnOf(t, axis);
    if (column === undefined) continue;
    const name = what === 'gap' ? `${gap} gap` : `${bargeIn} barge-in`;
    const at = Math.min(column, axis.columns - name.length);
    put(at, name);
    for (let index = 0; index < name.length; index += 1) marked.set(at + index, what);
  }
  return (
    <Text wrap="truncate">
      {' '.repeat(labelWidth)}
      {runs(axis.columns, (index) => marked.get(index)).map(({ from, until, value }) => {
        const text = cells.slice(from, until).join('');
        if (value === undefined) {
          return (
            <Text key={from} dimColor>
              {text}
            </Text>
          );
        }
        return (
          <Text key={from} color={value === 'gap' ? colours.bad : colours.warning}>
            {text}
          </Text>
        );
      })}
    </Text>
  );
}

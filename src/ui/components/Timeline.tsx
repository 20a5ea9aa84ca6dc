import { Box, Text } from 'ink';
import { audibleDbfs } from '../../audio/level.ts';
import type { StreamModel, TimelineMark } from '../stream-model.ts';
import { type Colour, colours, useGlyphs } from '../theme.ts';
import { columnOf, readVoice, type TimelineAxis, timelineSpanMs } from '../timeline.ts';
import { runs } from './Bar.tsx';
import { Divider } from './Rule.tsx';

interface TimelineProps {
  model: StreamModel;
  width: number;
  voiceLines: number;
  hasAxis: boolean;
}

const labelWidth = 4;
/** The usual range of speech, so that the height of a column shows its shape. */
const [lowDbfs, highDbfs] = [-42, -9];

function heightOf(dbfs: number): number {
  return Math.min(1, Math.max(0, (dbfs - lowDbfs) / (highDbfs - lowDbfs)));
}

/** The last half minute: both voices on one time axis, with barge-ins and gaps between them. */
export function TimelinePanel({ model, width, voiceLines, hasAxis }: TimelineProps) {
  const axis = {
    now: model.summary === undefined ? model.now : model.summary.t,
    columns: width - labelWidth,
  };
  const { out, in: incoming } = model.voices;
  return (
    <Box flexDirection="column">
      {hasAxis && <Divider title="speaking" note={`last ${timelineSpanMs / 1000} s`} width={width} />}
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
    const height = Math.max(1, Math.round(heightOf(level) * lines * steps.length));
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

/** Time, and marks where the user spoke over the AI, where the AI paused, and what was found in its audio. */
function AxisLine({ model, axis }: { model: StreamModel; axis: TimelineAxis }) {
  const { bargeIn, gap, minus, sound } = useGlyphs();
  const cells = Array.from({ length: axis.columns }, () => ' ');
  const put = (at: number, text: string) => {
    for (const [index, character] of [...text].entries()) cells[at + index] = character;
  };
  const marked = new Map<number, TimelineMark['what']>();
  // The newest come first: an older one without room for its name is only a mark.
  for (const { t, what } of model.marks.toReversed()) {
    const column = columnOf(t, axis);
    if (column === undefined) continue;
    const sign = what === 'gap' ? gap : what === 'barge-in' ? bargeIn : sound;
    const name = `${sign} ${what}`;
    const at = Math.min(column, axis.columns - name.length);
    const isFree = Array.from({ length: name.length + 1 }, (_, index) => at + index).every(
      (one) => !marked.has(one),
    );
    const text = isFree ? name : sign;
    put(isFree ? at : column, text);
    for (let index = 0; index < text.length; index += 1) marked.set((isFree ? at : column) + index, what);
  }
  // Marks replace the axis.
  const label = (at: number, text: string) => {
    const isFree = Array.from({ length: text.length + 1 }, (_, index) => at + index).every(
      (one) => !marked.has(one),
    );
    if (isFree) put(at, text);
  };
  for (const seconds of [30, 20, 10]) {
    label(Math.round(axis.columns * (1 - (seconds * 1000) / timelineSpanMs)), `${minus}${seconds} s`);
  }
  label(axis.columns - 3, 'now');
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
          <Text key={from} color={value === 'barge-in' ? colours.warning : colours.bad}>
            {text}
          </Text>
        );
      })}
    </Text>
  );
}

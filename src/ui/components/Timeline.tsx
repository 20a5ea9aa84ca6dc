import { Box, Text } from 'ink';
import { audibleDbfs } from '../../audio/level.ts';
import type { StreamModel } from '../stream-model.ts';
import { type Colour, colours, inkOf, useGlyphs } from '../theme.ts';
import { columnOf, placeMarks, readVoice, type TimelineAxis, timelineSpanMs } from '../timeline.ts';
import { equalRuns } from './Bar.tsx';
import { Divider } from './Rule.tsx';

interface TimelineProps {
  model: StreamModel;
  width: number;
  voiceLines: number;
  hasBoth: boolean;
  hasAxis: boolean;
}

const labelWidth = 5;
/** The usual range of speech, so that the heights show its shape. */
const [lowDbfs, highDbfs] = [-42, -9];

function heightOf(dbfs: number): number {
  return Math.min(1, Math.max(0, (dbfs - lowDbfs) / (highDbfs - lowDbfs)));
}

/** The last half minute: both voices on one time axis, their turn-taking, barge-ins and gaps. */
export function TimelinePanel({ model, width, voiceLines, hasBoth, hasAxis }: TimelineProps) {
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
      {hasBoth && <BothLine turns={model.turns} axis={axis} />}
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
          {equalRuns(levels.length, (index) => (levels[index] ?? -100) > audibleDbfs).map(
            ({ from, until, value }) => {
              const text = levels
                .slice(from, until)
                .map((level) => cellOf(level, line))
                .join('');
              return (
                <Text key={from} {...inkOf(value ? colour : undefined)}>
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

/** Where both speak, where the AI yields, and where it stops for a sound that is not a turn. */
function BothLine({ turns, axis }: { turns: StreamModel['turns']; axis: TimelineAxis }) {
  const { overlap } = useGlyphs();
  const cells = Array.from({ length: axis.columns }, () => ' ');
  for (const { startMs, endMs } of turns.overlaps) {
    const last = columnOf(Math.max(startMs, endMs - 1), axis);
    if (last !== undefined) cells.fill(overlap, columnOf(startMs, axis) ?? 0, last + 1);
  }
  const marks = turns.marks.flatMap(({ t, sign, name, isProblem }) => {
    const at = columnOf(t, axis);
    // If room is short, the time matters more than the word, which the sign says too.
    const names = [name, name.replace(/^yields /, '')];
    return at === undefined || sign === undefined ? [] : [{ at, sign, names, isProblem }];
  });
  const marked = placeMarks(cells, marks);
  const colourOf = (at: number) => {
    const mark = marked.get(at);
    return mark === undefined
      ? cells[at] === overlap
        ? colours.warning
        : undefined
      : mark.isProblem
        ? colours.bad
        : colours.good;
  };
  return (
    <Text wrap="truncate">
      <Text dimColor={turns.overlaps.length + marks.length === 0}>{'both'.padEnd(labelWidth)}</Text>
      {equalRuns(axis.columns, colourOf).map(({ from, until, value }) => (
        <Text key={from} {...(value && { color: value })}>
          {cells.slice(from, until).join('')}
        </Text>
      ))}
    </Text>
  );
}

/** Time, and marks where the user spoke over the AI, where the AI paused, and what was found in its audio. */
function AxisLine({ model, axis }: { model: StreamModel; axis: TimelineAxis }) {
  const { bargeIn, gap, minus, sound } = useGlyphs();
  const cells = Array.from({ length: axis.columns }, () => ' ');
  const marks = model.marks.flatMap(({ t, what }) => {
    const at = columnOf(t, axis);
    const sign = what === 'gap' ? gap : what === 'barge-in' ? bargeIn : sound;
    return at === undefined ? [] : [{ at, sign, names: [what] }];
  });
  const marked = placeMarks(cells, marks);
  // Marks replace the axis.
  const label = (at: number, text: string) => {
    const isFree = Array.from({ length: text.length + 1 }, (_, index) => at + index).every(
      (one) => !marked.has(one),
    );
    if (!isFree) return;
    for (const [index, character] of [...text].entries()) cells[at + index] = character;
  };
  for (const seconds of [30, 20, 10]) {
    label(Math.round(axis.columns * (1 - (seconds * 1000) / timelineSpanMs)), `${minus}${seconds} s`);
  }
  label(axis.columns - 3, 'now');
  const colourOf = (mark: (typeof marks)[number] | undefined) =>
    mark && (mark.sign === bargeIn ? colours.warning : colours.bad);
  return (
    <Text wrap="truncate">
      {' '.repeat(labelWidth)}
      {equalRuns(axis.columns, (index) => colourOf(marked.get(index))).map(({ from, until, value }) => (
        <Text key={from} {...inkOf(value)}>
          {cells.slice(from, until).join('')}
        </Text>
      ))}
    </Text>
  );
}

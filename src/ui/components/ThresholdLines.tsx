import { Box, Text } from 'ink';
import { limitText, measuredText } from '../../report/load-lines.ts';
import type { JudgedThreshold } from '../../runs/load/thresholds.ts';
import { cutTo, padTo, steady } from '../cells.ts';
import { toAscii } from '../glyphs.ts';
import { colours, useGlyphs } from '../theme.ts';
import { Bar } from './Bar.tsx';

interface ThresholdLinesProps {
  thresholds: readonly JudgedThreshold[];
  width: number;
  lines: number;
  isAscii: boolean;
}

const narrowestBar = 6;
const widestBar = 24;
const valueWidth = 12;

/** Each threshold with its value beside the limit: those that do not hold first, where there is no room for all. */
export function ThresholdLines({ thresholds, width, lines, isAscii }: ThresholdLinesProps) {
  const crossed = thresholds.filter(({ holds }) => !holds);
  const first =
    thresholds.length <= lines ? thresholds : [...crossed, ...thresholds.filter(({ holds }) => holds)];
  const shown = first.slice(0, lines);
  const nameWidth = Math.min(Math.max(...shown.map(({ text }) => text.length)), Math.floor(width / 2) - 4);
  return (
    <Box flexDirection="column">
      {shown.map((threshold) => (
        <ThresholdLine key={threshold.text} {...{ threshold, nameWidth, width, isAscii }} />
      ))}
    </Box>
  );
}

interface ThresholdLineProps extends Pick<ThresholdLinesProps, 'width' | 'isAscii'> {
  threshold: JudgedThreshold;
  nameWidth: number;
}

function ThresholdLine({ threshold, nameWidth, width, isAscii }: ThresholdLineProps) {
  const { passed, failed, ellipsis, dot } = useGlyphs();
  const { text, holds, value, limit } = threshold;
  const show = (words: string) => (isAscii ? toAscii(words) : steady(words, width));
  const colour = holds ? colours.good : value === null ? colours.warning : colours.bad;
  const of = `of ${limitText(threshold)}`;
  const measured = padTo(show(value === null ? 'no value yet' : measuredText(threshold)), valueWidth);
  const bar = Math.min(widestBar, width - nameWidth - valueWidth - of.length - 6);
  return (
    <Text wrap="truncate">
      <Text color={colour}>{holds ? passed : value === null ? dot : failed}</Text>{' '}
      {padTo(cutTo(show(text), nameWidth, ellipsis), nameWidth)}
      {'  '}
      <Text bold>{measured}</Text>{' '}
      {bar >= narrowestBar && (
        <>
          <Bar value={value === null ? 0 : share(value, limit)} width={bar} colour={colour} />{' '}
        </>
      )}
      <Text dimColor>{show(of)}</Text>
    </Text>
  );
}

function share(value: number, limit: number): number {
  return limit === 0 ? (value === 0 ? 0 : 1) : value / limit;
}

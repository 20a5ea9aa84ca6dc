import { Box, Text } from 'ink';
import type { FigureView } from '../figures.ts';
import { toAscii } from '../glyphs.ts';
import { colours } from '../theme.ts';

/** The figures on one or two lines; a figure past its limit is red and marked. */
export function FigureLines({
  views,
  lines,
  isAscii,
}: {
  views: readonly FigureView[];
  lines: number;
  isAscii: boolean;
}) {
  const perLine = Math.ceil(views.length / lines);
  return (
    <Box flexDirection="column">
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
        <Text key={line} wrap="truncate">
          {views.slice(line * perLine, (line + 1) * perLine).map(({ name, text, isPast }, index) => (
            <Text key={name}>
              {index === 0 ? '' : '  '}
              <Text dimColor>{name}</Text>{' '}
              {isPast ? (
                <Text color={colours.bad} bold>
                  {isAscii ? toAscii(text) : text}!
                </Text>
              ) : (
                <Text bold>{isAscii ? toAscii(text) : text}</Text>
              )}
            </Text>
          ))}
        </Text>
      ))}
    </Box>
  );
}

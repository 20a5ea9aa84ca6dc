import { Text } from 'ink';
import { cutTo, padTo, steady } from '../cells.ts';
import type { Row } from '../event-list.ts';
import { toAscii } from '../glyphs.ts';
import { colours, useGlyphs } from '../theme.ts';

interface EventLinesProps {
  rows: readonly Row[];
  marked: number | undefined;
  width: number;
  isAscii: boolean;
}

/** The event list: time, direction, kind and content of each, on a line of its own. */
export function EventLines({ rows, marked, width, isAscii }: EventLinesProps) {
  const kindWidth = width < 70 ? 12 : width < 100 ? 18 : 23;
  return (
    <>
      {rows.map((row) => (
        <EventLine
          key={row.id}
          row={row}
          isMarked={row.id === marked}
          width={width}
          kindWidth={kindWidth}
          isAscii={isAscii}
        />
      ))}
    </>
  );
}

interface EventLineProps {
  row: Row;
  isMarked: boolean;
  width: number;
  kindWidth: number;
  isAscii: boolean;
}

function EventLine({ row, isMarked, width, kindWidth, isAscii }: EventLineProps) {
  const glyphs = useGlyphs();
  const show = (text: string) => (isAscii ? toAscii(text) : steady(text));
  const time = (row.t / 1000).toFixed(3).padStart(8);
  const mark = row.mark === undefined ? ' ' : '!';
  const kind = padTo(show(row.kind), kindWidth, glyphs.ellipsis);
  const text = cutTo(show(row.text), width - kindWidth - 16, glyphs.ellipsis);
  const direction = glyphs[row.direction];
  const colour = row.mark === 'error' ? colours.bad : colours.warning;
  const voice = row.direction === 'out' ? colours.you : colours.ai;
  return (
    <Text wrap="truncate" inverse={isMarked}>
      {isMarked ? glyphs.cursor : ' '}
      <Text dimColor={!isMarked}>{time}</Text>{' '}
      {row.direction === 'self' ? <Text dimColor>{direction}</Text> : <Text color={voice}>{direction}</Text>}{' '}
      {row.mark === undefined ? (
        mark
      ) : (
        <Text color={colour} bold>
          {mark}
        </Text>
      )}{' '}
      <Text bold={row.mark !== undefined}>{kind}</Text>{' '}
      {row.mark === 'error' ? (
        <Text color={colour}>{text}</Text>
      ) : (
        <Text dimColor={row.kind === 'audio'}>{text}</Text>
      )}
    </Text>
  );
}

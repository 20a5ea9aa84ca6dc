import { Text } from 'ink';
import { cutTo, nearText, padTo, steady } from '../cells.ts';
import type { Row } from '../event-list.ts';
import { toAscii } from '../glyphs.ts';
import { colours, useGlyphs } from '../theme.ts';

interface EventLineProps {
  row: Row;
  isMarked: boolean;
  width: number;
  isAscii: boolean;
  /** Whether lines name stream and device. */
  hasWho: boolean;
}

/** An event in the list on one line: time, origin, subject and text. */
export function EventLine({ row, isMarked, width, isAscii, hasWho }: EventLineProps) {
  const glyphs = useGlyphs();
  const kindWidth = hasWho ? (width < 100 ? 10 : 23) : width < 70 ? 12 : width < 100 ? 18 : 23;
  const show = (text: string, cells: number) =>
    isAscii ? toAscii(nearText(text, cells)) : steady(text, cells);
  const time = (row.t / 1000).toFixed(3).padStart(8);
  const whoWidth = hasWho ? (width < 70 ? 6 : width < 100 ? 18 : 28) : 0;
  const isMild = row.level === 'info';
  const kind = padTo(show(row.subject, kindWidth), kindWidth, glyphs.ellipsis);
  const textWidth = width - kindWidth - whoWidth - 16;
  const text = cutTo(show(row.text, textWidth), textWidth, glyphs.ellipsis);
  const origin = glyphs[row.from];
  const colour = row.level === 'error' ? colours.bad : colours.warning;
  const voice = row.from === 'device' ? colours.you : colours.ai;
  return (
    <Text wrap="truncate" inverse={isMarked}>
      {isMarked ? glyphs.cursor : ' '}
      <Text dimColor={!isMarked}>{time}</Text>{' '}
      {row.from === 'self' ? <Text dimColor>{origin}</Text> : <Text color={voice}>{origin}</Text>}{' '}
      {isMild ? (
        ' '
      ) : (
        <Text color={colour} bold>
          !
        </Text>
      )}{' '}
      {hasWho && (
        <Text dimColor={!isMarked}>
          {padTo(show(whoText(row, whoWidth), whoWidth), whoWidth, glyphs.ellipsis)}
        </Text>
      )}
      <Text bold={!isMild}>{kind}</Text>{' '}
      {row.level === 'error' ? (
        <Text color={colour}>{text}</Text>
      ) : (
        <Text dimColor={row.subject === 'audio'}>{text}</Text>
      )}
    </Text>
  );
}

/** The number of the stream, and the device if it fits. */
function whoText({ stream, device }: Row, width: number): string {
  const number = (stream === undefined ? '' : String(stream)).padStart(4);
  return width < 10 || device === undefined ? number : `${number} ${device}`;
}

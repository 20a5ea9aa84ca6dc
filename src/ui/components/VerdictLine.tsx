import { Text } from 'ink';
import { cutTo, padTo, steady } from '../cells.ts';
import { toAscii } from '../glyphs.ts';
import { useGlyphs } from '../theme.ts';
import { verdictMark } from '../verdict-mark.ts';
import type { ItemSeen } from '../verdict-model.ts';

/** The columns that the ids of a list take. */
export function idColumns(items: readonly { id: string }[]): number {
  return Math.max(shortestIdWidth, ...items.map(({ id }) => id.length + 1));
}

interface VerdictLineProps {
  item: ItemSeen;
  idWidth: number;
  isMarked: boolean;
  width: number;
  isAscii: boolean;
}

const shortestIdWidth = 5;
const verdictWidth = 9;
const longestTitle = 43;

/** An item in the list: its verdict, its name, and what was seen. */
export function VerdictLine({ item, idWidth, isMarked, width, isAscii }: VerdictLineProps) {
  const glyphs = useGlyphs();
  const { id, title, verdict, message, isFinal } = item;
  const show = (text: string) => (isAscii ? toAscii(text) : steady(text, width));
  const { sign, colour } = verdictMark(verdict, glyphs);
  const room = width - 4 - idWidth - verdictWidth;
  const titleWidth = Math.min(room, longestTitle);
  const isLoud = verdict === 'fail' || verdict === 'warn';
  const name = verdict === 'fail' && !isFinal ? 'fail?' : (verdict ?? '');
  return (
    <Text wrap="truncate" inverse={isMarked}>
      {isMarked ? glyphs.cursor : ' '}
      {colour === undefined ? <Text dimColor={!isMarked}>{sign}</Text> : <Text color={colour}>{sign}</Text>}{' '}
      {padTo(id, idWidth)}
      {isLoud && colour !== undefined ? (
        <Text color={colour} bold>
          {padTo(name, verdictWidth)}
        </Text>
      ) : (
        padTo(name, verdictWidth)
      )}
      <Text dimColor={!isMarked && (verdict === undefined || verdict === 'skipped')}>
        {padTo(show(title), titleWidth, glyphs.ellipsis)}
      </Text>{' '}
      <Text dimColor={!isMarked && !isLoud}>
        {cutTo(show(message), room - titleWidth - 1, glyphs.ellipsis)}
      </Text>
    </Text>
  );
}

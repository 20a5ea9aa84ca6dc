import { Text } from 'ink';
import { cutTo, widthOf } from '../cells.ts';
import { useGlyphs } from '../theme.ts';

interface RuleProps {
  title: string;
  note?: string;
  width: number;
  /** Whether the keys act on this panel; only shown if there are several. */
  isFocused?: boolean;
}

/** The heading of a panel: a line with its title, and a note at the end. */
export function Divider({ title, note = '', width, isFocused = false }: RuleProps) {
  const { rule, cursor } = useGlyphs();
  const shownNote = cutTo(note, width - widthOf(title) - 8);
  const noteText = shownNote === '' ? '' : ` ${shownNote} `;
  const line = Math.max(0, width - widthOf(title) - widthOf(noteText) - 6);
  return (
    <Text wrap="truncate">
      {isFocused ? <Text bold>{`${rule}${cursor}`}</Text> : <Text dimColor>{rule.repeat(2)}</Text>}{' '}
      <Text bold inverse={isFocused}>
        {title}
      </Text>{' '}
      <Text dimColor>
        {rule.repeat(line)}
        {noteText}
        {rule.repeat(2)}
      </Text>
    </Text>
  );
}

/** The note of a panel that scrolls: how many there are, and which ones are shown if not all are. */
export function shownNote(top: number, shown: number, all: number): string {
  return shown === all ? String(all) : `${top + 1} to ${top + shown} of ${all}`;
}

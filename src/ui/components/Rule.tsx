import { Text } from 'ink';
import { cutTo, widthOf } from '../cells.ts';
import { useGlyphs } from '../theme.ts';

/** The heading of a panel: a line with its title, and a note at the end. */
export function Rule({ title, note = '', width }: { title: string; note?: string; width: number }) {
  const { rule, ellipsis } = useGlyphs();
  const shownNote = cutTo(note, width - widthOf(title) - 8, ellipsis);
  const noteText = shownNote === '' ? '' : ` ${shownNote} `;
  const line = Math.max(0, width - widthOf(title) - widthOf(noteText) - 6);
  return (
    <Text wrap="truncate">
      <Text dimColor>{rule.repeat(2)}</Text> <Text bold>{title}</Text>{' '}
      <Text dimColor>
        {rule.repeat(line)}
        {noteText}
        {rule.repeat(2)}
      </Text>
    </Text>
  );
}

import { Box, Text } from 'ink';
import { steady } from '../cells.ts';
import { toAscii } from '../glyphs.ts';
import type { ItemSeen } from '../verdict-model.ts';
import { Rule } from './Rule.tsx';

interface SeenLinesProps {
  item: ItemSeen | undefined;
  width: number;
  isAscii: boolean;
}

/** What was seen of one item, in full if it fits. */
export function SeenLines({ item, width, isAscii }: SeenLinesProps) {
  const text = item?.message ?? '';
  return (
    <Box flexDirection="column" width={width}>
      <Rule title={item === undefined ? '' : `${item.id}: ${item.title}`} width={width} />
      <Text wrap="wrap">{isAscii ? toAscii(text) : steady(text, 4 * width)}</Text>
    </Box>
  );
}

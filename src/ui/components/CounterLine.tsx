import { Text } from 'ink';
import { counterTexts, type ServeCounters } from '../../report/serve-counters.ts';
import { cutTo } from '../cells.ts';
import { colours, useGlyphs } from '../theme.ts';

/** Counts of what has happened, and the active faults. */
export function CounterLine({ counters, faults }: { counters: ServeCounters; faults: readonly string[] }) {
  const { dot, ellipsis } = useGlyphs();
  return (
    <Text wrap="truncate">
      {faults.length > 0 && (
        <Text>
          <Text color={colours.warning} bold>
            !
          </Text>{' '}
          <Text bold>{faults.length}</Text> <Text dimColor>active:</Text>{' '}
          {cutTo(faults.join(', '), 24, ellipsis)} <Text dimColor>{dot}</Text>{' '}
        </Text>
      )}
      {counterTexts(counters).map((text, index) => (
        <Text key={text.replace(/^\d+ /, '')}>
          {index === 0 ? '' : <Text dimColor> {dot} </Text>}
          <Text bold>{text.split(' ')[0]}</Text> <Text dimColor>{text.split(' ')[1]}</Text>
        </Text>
      ))}
    </Text>
  );
}

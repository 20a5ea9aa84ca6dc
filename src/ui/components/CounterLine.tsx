import { Text } from 'ink';
import { counterTexts, type ServeCounters } from '../../report/serve-counters.ts';
import { useGlyphs } from '../theme.ts';

/** What has happened so far, in numbers, and which faults are active. */
export function CounterLine({ counters, faults }: { counters: ServeCounters; faults: readonly string[] }) {
  const { dot } = useGlyphs();
  return (
    <Text wrap="truncate">
      {counterTexts(counters).map((text, index) => (
        <Text key={text.replace(/^\d+ /, '')}>
          {index === 0 ? '' : <Text dimColor> {dot} </Text>}
          <Text bold>{text.split(' ')[0]}</Text> <Text dimColor>{text.split(' ')[1]}</Text>
        </Text>
      ))}
      {faults.length > 0 && (
        <Text>
          <Text dimColor> {dot} </Text>
          <Text bold>! active</Text> {faults.join(', ')}
        </Text>
      )}
    </Text>
  );
}

import { Text } from 'ink';
import { useGlyphs } from '../theme.ts';
import { verdictMark } from '../verdict-mark.ts';
import type { ItemSeen } from '../verdict-model.ts';

const verdicts = ['pass', 'fail', 'warn', 'observed', 'unknown', 'skipped', undefined] as const;

/** How many items have which verdict, and how many wait for theirs. */
export function VerdictCounts({ items }: { items: readonly ItemSeen[] }) {
  const glyphs = useGlyphs();
  const counts = verdicts
    .map((verdict) => ({ verdict, count: items.filter((item) => item.verdict === verdict).length }))
    .filter(({ verdict, count }) => count > 0 || verdict === 'pass' || verdict === 'fail');
  return (
    <Text wrap="truncate">
      {counts.map(({ verdict, count }, index) => {
        const { colour } = verdictMark(count === 0 ? undefined : verdict, glyphs);
        return (
          <Text key={verdict ?? 'waiting'}>
            {index === 0 ? '' : <Text dimColor> {glyphs.dot} </Text>}
            <Text bold {...(colour === undefined ? {} : { color: colour })}>
              {count}
            </Text>{' '}
            <Text dimColor>{verdict ?? 'waiting'}</Text>
          </Text>
        );
      })}
    </Text>
  );
}

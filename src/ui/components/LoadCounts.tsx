import { Text } from 'ink';
import type { FailureKind } from '../../kernel/failure-kind.ts';
import type { LiveLoad } from '../../runs/load/live.ts';
import { type Colour, colours, useGlyphs } from '../theme.ts';

const refusals: readonly FailureKind[] = [
  ...(['token-refused', 'stream-refused', 'rate-limited'] as const),
  ...(['too-many-connections', 'handshake'] as const),
];
const cuts: readonly FailureKind[] = ['stream-broken', 'service-error'];

interface Count {
  name: string;
  count: number;
  colour?: Colour;
}

/** How many sessions are in which state. */
export function LoadCounts({ live }: { live: LiveLoad | undefined }) {
  const { dot } = useGlyphs();
  return (
    <Text wrap="truncate">
      {countsOf(live).map(({ name, count, colour }, index) => (
        <Text key={name}>
          {index === 0 ? '' : <Text dimColor> {dot} </Text>}
          <Text bold {...(colour === undefined || count === 0 ? {} : { color: colour })}>
            {count}
          </Text>{' '}
          <Text dimColor>{name}</Text>
        </Text>
      ))}
    </Text>
  );
}

function countsOf(live: LiveLoad | undefined): Count[] {
  const of = (kinds: readonly FailureKind[]) =>
    kinds.reduce((sum, kind) => sum + (live?.failures[kind] ?? 0), 0);
  const [refused, cut] = [of(refusals), of(cuts)];
  const { arrived = 0, done = 0, failed = 0, stopped = 0, dropped = 0 } = live?.counts ?? {};
  const rare: Count[] = [
    { name: 'failed otherwise', count: failed - refused - cut, colour: colours.bad },
    { name: 'stopped', count: stopped },
    { name: 'dropped', count: dropped, colour: colours.bad },
  ];
  return [
    { name: 'open', count: live?.last.open ?? 0, colour: colours.good },
    { name: 'started', count: arrived },
    { name: 'done', count: done },
    { name: 'refused', count: refused, colour: colours.bad },
    { name: 'cut', count: cut, colour: colours.bad },
    ...rare.filter(({ count }) => count > 0),
  ];
}

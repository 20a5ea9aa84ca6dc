import { Text } from 'ink';
import type { ReactNode } from 'react';
import { fittingTexts } from '../cells.ts';
import { type Colour, useGlyphs } from '../theme.ts';

export interface Count {
  name: string;
  count: number;
  /** Colour of a count above zero. */
  colour?: Colour | undefined;
}

/** `3 open · 12 done`: as many counts as fit into `width` cells, after `children`. */
export function CountLine({
  counts,
  width,
  children,
}: {
  counts: readonly Count[];
  width: number;
  children?: ReactNode;
}) {
  const { dot } = useGlyphs();
  const texts = counts.map(({ name, count }) => `${count} ${name}`);
  return (
    <Text wrap="truncate">
      {children}
      {counts.slice(0, fittingTexts(texts, width).length).map(({ name, count, colour }, index) => (
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

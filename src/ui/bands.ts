import type { ReactNode } from 'react';

/** A stretch of whole lines of a screen. Bands are drawn apart, and only when what they show has changed. */
export interface Band {
  name: string;
  lines: number;
  /** All that the band depends on, compared by identity. */
  on: readonly unknown[];
  draw: () => ReactNode;
}

/** Empty lines. */
export function space(name: string, lines: number): Band {
  return { name, lines, on: [], draw: () => '' };
}

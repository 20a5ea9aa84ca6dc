import type { ReactNode } from 'react';

/** Some whole lines of a screen. Each band is drawn separately, and only when its contents have changed. */
export interface Band {
  name: string;
  lines: number;
  /** Everything that the band depends on, compared by identity. */
  on: readonly unknown[];
  draw: () => ReactNode;
}

/** Empty lines. */
export function space(name: string, lines: number): Band {
  return { name, lines, on: [], draw: () => '' };
}

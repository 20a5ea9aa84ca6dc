import { createContext, useContext } from 'react';
import { type Glyphs, glyphsFor } from './glyphs.ts';

/** The characters of the screen that is being drawn. */
const GlyphContext = createContext<Glyphs>(glyphsFor(false));

export const GlyphProvider = GlyphContext.Provider;

export function useGlyphs(): Glyphs {
  return useContext(GlyphContext);
}

/**
 * Colours by meaning, from the 16 of every terminal. Only bars and marks are coloured: text keeps the
 * terminal's own colour, which is readable on any background.
 */
export const colours = {
  you: 'green',
  ai: 'cyan',
  good: 'green',
  warning: 'yellow',
  bad: 'red',
} as const;

export type Colour = (typeof colours)[keyof typeof colours];

/** The properties of a text in a colour; dim without one. */
export function inkOf(colour: Colour | undefined): { color: Colour } | { dimColor: true } {
  return colour === undefined ? { dimColor: true } : { color: colour };
}

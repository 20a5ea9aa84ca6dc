import { Box, renderToString } from 'ink';
import { widthOf } from './cells.ts';
import { glyphsFor } from './glyphs.ts';
import { type Band, margin, type Size } from './layout.ts';
import { GlyphProvider } from './theme.ts';

/** Turns the bands of a screen into output for the terminal. */
export interface Drawer {
  draw(bands: readonly Band[], size: Size, fresh: boolean): string;
}

/** Ink draws each band that has changed; only lines that differ are written. */
export function createDrawer(isAscii: boolean): Drawer {
  const glyphs = glyphsFor(isAscii);
  const drawn = new Map<string, { on: readonly unknown[]; lines: readonly string[] }>();
  let shown: readonly string[] = [];

  const linesOf = ({ name, lines, on, draw }: Band, columns: number): readonly string[] => {
    if (lines === 0) return [];
    const dependencies = [lines, columns, ...on];
    const before = drawn.get(name);
    if (before !== undefined && isSame(before.on, dependencies)) return before.lines;
    const text = renderToString(
      <GlyphProvider value={glyphs}>
        <Box flexDirection="column" width={columns} height={lines} paddingX={margin} overflow="hidden">
          {draw()}
        </Box>
      </GlyphProvider>,
      { columns },
    );
    // Text was cut with a Unicode ellipsis, by Ink too.
    const split = (isAscii ? text.replaceAll('…', glyphs.ellipsis) : text).split('\n');
    const exactly = Array.from({ length: lines }, (_, index) => split[index] ?? '');
    drawn.set(name, { on: dependencies, lines: exactly });
    return exactly;
  };

  const forget = (names: ReadonlySet<string>) => {
    for (const name of drawn.keys()) if (!names.has(name)) drawn.delete(name);
  };

  return {
    draw(bands, { columns, rows }, fresh) {
      const lines = bands.flatMap((band) => linesOf(band, columns)).slice(0, rows);
      forget(new Set(bands.map(({ name }) => name)));
      const patch = fresh ? clear + patchLines([], lines, columns) : patchLines(shown, lines, columns);
      shown = lines;
      return patch === '' ? '' : beginUpdate + patch + endUpdate;
    },
  };
}

/** Terminals with synchronised output show everything between these two at once. */
const beginUpdate = '\u001b[?2026h';
const endUpdate = '\u001b[?2026l';
const clear = '\u001b[2J';

/** The output that replaces the shown lines: those that differ, each at its place. */
function patchLines(before: readonly string[], lines: readonly string[], columns: number): string {
  return lines
    .map((line, index) => {
      if (line === (before[index] ?? '')) return '';
      // A full line leaves the cursor on its last character, which must not be erased.
      const eraseRest = widthOf(line) < columns ? '\u001b[K' : '';
      return `\u001b[${index + 1};1H${line}${eraseRest}`;
    })
    .join('');
}

function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((value, index) => Object.is(value, b[index]));
}

import stringWidth from 'string-width';

/** What one cell of a terminal shows. */
interface Cell {
  text: string;
  cells: number;
  style: Style;
}

interface Style {
  colour?: string | undefined;
  bold?: boolean;
  dim?: boolean;
  inverse?: boolean;
  underline?: boolean;
}

/** The colours of a page, and of the eight that a terminal numbers. */
export interface Palette {
  background: string;
  text: string;
  colours: readonly string[];
}

export const dark: Palette = {
  background: '#16191f',
  text: '#c9d1d9',
  colours: ['#484f58', '#ff7b72', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#c9d1d9'],
};

const cellWidth = 8.4;
const lineHeight = 18;
const padding = 14;

/** A screen as `tmux capture-pane -e` prints it, as a picture that can be scaled. */
export function ansiToSvg(screen: string, columns: number, palette: Palette = dark): string {
  const lines = screen.replace(/\n+$/, '').split('\n');
  const [width, height] = [columns * cellWidth + 2 * padding, lines.length * lineHeight + 2 * padding];
  const rows = lines.map((line, row) => svgLine(readLine(line), row, palette)).join('\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14">
<rect width="100%" height="100%" rx="8" fill="${palette.background}"/>
${rows}
</svg>
`;
}

/** Splits a line into stretches of one style. Only the sequences that tmux writes are read: those of SGR. */
function readLine(line: string): Cell[] {
  const found: Cell[] = [];
  let style: Style = {};
  for (const [part] of line.matchAll(/\u001b\[[0-9;]*m|[^\u001b]+|\u001b./g)) {
    if (part.startsWith('\u001b')) style = nextStyle(style, part);
    else found.push({ text: part, cells: stringWidth(part), style });
  }
  return found;
}

function nextStyle(style: Style, sequence: string): Style {
  const codes = sequence.slice(2, -1).split(';').map(Number);
  return codes.reduce<Style>((before, code) => {
    if (code === 0) return {};
    if (code === 1) return { ...before, bold: true };
    if (code === 2) return { ...before, dim: true };
    if (code === 4) return { ...before, underline: true };
    if (code === 7) return { ...before, inverse: true };
    if (code === 22) return { ...before, bold: false, dim: false };
    if (code === 24) return { ...before, underline: false };
    if (code === 27) return { ...before, inverse: false };
    if (code === 39) return { ...before, colour: undefined };
    if (code >= 30 && code <= 37) return { ...before, colour: String(code - 30) };
    return before;
  }, style);
}

function svgLine(line: readonly Cell[], row: number, { background, text, colours }: Palette): string {
  let at = 0;
  const parts = line.map(({ text: content, cells, style }) => {
    const x = padding + at * cellWidth;
    const y = padding + row * lineHeight;
    at += cells;
    const plain = style.colour === undefined ? text : (colours[Number(style.colour)] ?? text);
    const block = style.inverse
      ? `<rect x="${x.toFixed(1)}" y="${y}" width="${(cells * cellWidth).toFixed(1)}" height="${lineHeight}" fill="${plain}"/>`
      : '';
    if (content.trim() === '') return block;
    const attributes = [
      `x="${x.toFixed(1)}"`,
      `y="${y + 13.5}"`,
      `textLength="${(cells * cellWidth).toFixed(1)}"`,
      'xml:space="preserve"',
      `fill="${style.inverse ? background : plain}"`,
      ...(style.bold ? ['font-weight="bold"'] : []),
      ...(style.dim ? ['opacity="0.55"'] : []),
      ...(style.underline ? ['text-decoration="underline"'] : []),
    ];
    return `${block}<text ${attributes.join(' ')}>${escapeXml(content)}</text>`;
  });
  return parts.join('');
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

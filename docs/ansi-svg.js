import stringWidth from 'string-width';

/**
 * A stretch of a line in one style.
 *
 * @typedef {{ text: string, cells: number, style: Style }} Stretch
 * @typedef {{ colour?: string | undefined, bold?: boolean, dim?: boolean, inverse?: boolean, underline?: boolean }} Style
 *
 * The colours of a page, and of the eight that a terminal numbers.
 * @typedef {{ background: string, text: string, colours: readonly string[] }} Palette
 */

/** @type {Palette} */
export const dark = {
  background: '#16191f',
  text: '#c9d1d9',
  colours: ['#484f58', '#ff7b72', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#c9d1d9'],
};

const cellWidth = 8.4;
const lineHeight = 18;
const padding = 14;

/**
 * A screen as `tmux capture-pane -e` prints it, as a picture that can be scaled.
 *
 * @param {string} screen
 * @param {{ columns: number, title: string, palette?: Palette }} options
 */
export function ansiToSvg(screen, { columns, title, palette = dark }) {
  const lines = screen.replace(/\n+$/, '').split('\n');
  const [width, height] = [columns * cellWidth + 2 * padding, lines.length * lineHeight + 2 * padding];
  const rows = lines.map((line, row) => svgLine(readLine(line), row, palette)).join('\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14">
<title>${escapeXml(title)}</title>
<rect width="100%" height="100%" rx="8" fill="${palette.background}"/>
${rows}
</svg>
`;
}

/**
 * Splits a line into stretches of one style. Only the sequences that tmux writes are read: those of SGR.
 *
 * @param {string} line
 */
function readLine(line) {
  /** @type {Stretch[]} */
  const found = [];
  /** @type {Style} */
  let style = {};
  for (const [part] of line.matchAll(/\u001b\[[0-9;]*m|[^\u001b]+|\u001b./g)) {
    if (part.startsWith('\u001b')) style = nextStyle(style, part);
    else found.push({ text: part, cells: stringWidth(part), style });
  }
  return found;
}

/**
 * @param {Style} style
 * @param {string} sequence
 * @returns {Style}
 */
function nextStyle(style, sequence) {
  let next = style;
  for (const code of sequence.slice(2, -1).split(';').map(Number)) {
    if (code === 0) next = {};
    else if (code >= 30 && code <= 37) next = { ...next, colour: String(code - 30) };
    else next = { ...next, ...changes[code] };
  }
  return next;
}

/** @type {Record<number, Style>} */
const changes = {
  1: { bold: true },
  2: { dim: true },
  4: { underline: true },
  7: { inverse: true },
  22: { bold: false, dim: false },
  24: { underline: false },
  27: { inverse: false },
  39: { colour: undefined },
};

/**
 * @param {readonly Stretch[]} line
 * @param {number} row
 * @param {Palette} palette
 */
function svgLine(line, row, { background, text, colours }) {
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

/** @param {string} text */
function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

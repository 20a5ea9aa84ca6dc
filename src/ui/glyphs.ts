import { dialogueSigns } from '../report/dialogue-lines.ts';
import { originSigns } from '../report/event-words.ts';
import { roughBeginning, toTerminalCells } from './cells.ts';
import type { ScreenStart } from './port.ts';

export type Glyphs = typeof unicode;

const unicode = {
  /** Text in characters of the screen. Of text that is longer than `cells`, only the start. */
  show: (text: string, cells: number) => toTerminalCells(text, cells),
  ellipsis: '…',
  rule: '─',
  /** A bar: full, half full, empty, and its peak. */
  bar: '━',
  halfBar: '╸',
  track: '─',
  hold: '┃',
  /** Loudness from silence up. */
  levels: ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
  ...originSigns,
  cursor: '›',
  live: '●',
  pending: '◌',
  done: '○',
  bargeIn: '▲',
  gap: '╳',
  /** A problem in the sound of a voice. */
  sound: '◆',
  /** Both voices speak. */
  overlap: dialogueSigns.overlap as string,
  dot: '·',
  next: '›',
  failed: '✗',
  passed: '✓',
  dash: '–',
  minus: '−',
  atLeast: '≥',
};

const ascii: Glyphs = {
  show: (text, cells) => toAscii(roughBeginning(text, cells)),
  ellipsis: '~',
  rule: '-',
  bar: '=',
  halfBar: '-',
  track: '.',
  hold: '|',
  levels: ['_', '.', ':', '-', '=', '+', '*', '#'],
  device: '^',
  service: 'v',
  self: '.',
  cursor: '>',
  live: '*',
  pending: 'o',
  done: '-',
  bargeIn: '^',
  gap: 'x',
  sound: '!',
  overlap: dialogueSigns.plainOverlap,
  dot: '.',
  next: '>',
  failed: 'x',
  passed: '+',
  dash: '-',
  minus: '-',
  atLeast: '>',
};

export function glyphsFor(isAscii: boolean): Glyphs {
  return isAscii ? ascii : unicode;
}

/** The meaning of the signs of a screen, for the help below the keys. */
export function legendFor({ screen, ascii }: Pick<ScreenStart, 'screen' | 'ascii'>): readonly Sign[] {
  if (screen !== 'stream') return [];
  const { overlap, bargeIn, gap, sound } = glyphsFor(ascii);
  const { yields, falseStop, maybeFalseStop } = dialogueSigns;
  return [
    { sign: overlap, help: 'both speak' },
    { sign: yields, help: 'the AI yields, this long after a turn interrupts it' },
    { sign: falseStop, help: 'false stop: the AI stops for a sound that is not a turn' },
    { sign: maybeFalseStop, help: 'a sound under 1 s stops the AI: false if it is not a turn' },
    { sign: `${bargeIn} ${gap} ${sound}`, help: 'barge-in; gap in a reply; something wrong with its sound' },
  ];
}

interface Sign {
  sign: string;
  help: string;
}

/** Text in ASCII, one cell for each cell where possible. */
function toAscii(text: string): string {
  return text
    .replaceAll('…', '~')
    .replaceAll('–', '-')
    .replaceAll('−', '-')
    .replaceAll('×', 'x')
    .replaceAll('≥', '>')
    .replaceAll('·', '.')
    .replace(/[^\u0020-\u007e]/gu, '?');
}

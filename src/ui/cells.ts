import stringWidth from 'string-width';
import { cutText, escapeCharacter } from '../kernel/escape.ts';

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Text in which every character takes one cell, which is the common case. */
const plain = /^[\u0020-\u007e\u00a0-\u02ff\u2010-\u2027\u2190-\u2193\u2500-\u259f\u25b2-\u25cf]*$/;

/** The width of the text in cells. */
export function widthOf(text: string): number {
  return plain.test(text) ? text.length : stringWidth(text);
}

/** The text in exactly `width` cells: cut with an ellipsis, or filled up with spaces. */
export function padTo(text: string, width: number): string {
  return fillTo(cutTo(text, width), width);
}

/** The same for a name, which is cut in its middle. */
export function padNameTo(name: string, width: number): string {
  return fillTo(cutNameTo(name, width), width);
}

function fillTo(cut: string, width: number): string {
  return cut + ' '.repeat(Math.max(0, width - widthOf(cut)));
}

/** The same with the spaces before the text. */
export function padStartTo(text: string, width: number): string {
  const cut = cutTo(text, width);
  return ' '.repeat(Math.max(0, width - widthOf(cut))) + cut;
}

/** The text in at most `width` cells, cut after a whole word unless that leaves less than half of it. */
export function cutTo(text: string, width: number): string {
  if (width <= 0) return '';
  // Text that is far too long is not measured to its end.
  const near = roughBeginning(text, width);
  if (near === text && widthOf(text) <= width) return text;
  return `${wholeWords(firstCells(charactersOf(near), width - 1).join(''), near)}…`;
}

/** A name in at most `width` cells. A longer one keeps its start and its end, where names differ: `kitchen…0017`. */
export function cutNameTo(name: string, width: number): string {
  if (width <= 0) return '';
  const near = roughBeginning(name, width);
  if (near === name && widthOf(name) <= width) return name;
  const room = width - 1;
  const characters = charactersOf(near);
  const end = firstCells(characters.toReversed(), Math.ceil(room / 3))
    .reverse()
    .join('');
  return `${firstCells(characters, room - widthOf(end)).join('')}…${end}`;
}

function charactersOf(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** The first of these characters that fit into this many cells. */
function firstCells(characters: readonly string[], cells: number): string[] {
  let left = cells;
  const over = characters.findIndex((character) => {
    left -= widthOf(character);
    return left < 0;
  });
  return characters.slice(0, over < 0 ? characters.length : over);
}

const letter = /[\p{L}\p{N}]/u;
/** A longer word, such as an address, is cut inside. */
const longWord = 12;

/** What was kept of a text, without a cut word at its end. */
function wholeWords(kept: string, text: string): string {
  if (!letter.test(text.charAt(kept.length)) || !letter.test(kept.at(-1) ?? '')) return kept.trimEnd();
  const half = kept.length / 2;
  const space = kept.lastIndexOf(' ');
  let end = kept.length - 1;
  while (end >= half && letter.test(kept.charAt(end))) end -= 1;
  if (space >= half && kept.length - space <= longWord) end = space;
  return end < half ? kept : kept.slice(0, end + 1).replace(/[\s,;:({"_]{1,8}$/, '');
}

/** The start of a text, longer than `width` cells, so that a long text is not read to its end. */
export function roughBeginning(text: string, width: number): string {
  return cutText(text, 4 * Math.max(0, width) + 64);
}

/**
 * Text in which every character is as wide as it looks: terminals disagree on the width of emoji that are made of
 * several (families, flags, skin tones, variation selectors), so that only the first part of each is shown, and on the
 * width of invisible characters, which are shown escaped. Of text that is longer than `width` cells, only the start.
 */
export function toTerminalCells(text: string, width: number): string {
  const start = roughBeginning(text, width);
  const isWhole = start === text;
  const near = start.replace(invisible, escapeCharacter);
  if (plain.test(near)) return near;
  const parts = Array.from(segmenter.segment(near), ({ segment }) =>
    composed.test(segment) ? String.fromCodePoint(segment.codePointAt(0) ?? 0) : segment,
  );
  // The shortened text may fit, but it is not the whole text.
  return `${parts.join('')}${isWhole ? '' : '…'}`;
}

const composed = /[\u200d\ufe0e\ufe0f\u20e3]|[\u{1f1e6}-\u{1f1ff}\u{e0020}-\u{e007f}]|\p{Emoji_Modifier}/u;

/** All but joiners, variation selectors and tags: they are a part of the character before them. */
const invisible =
  /(?!\u200c|\u200d|[\ufe00-\ufe0f]|[\u{e0020}-\u{e007f}]|[\u{e0100}-\u{e01ef}])\p{Default_Ignorable_Code_Point}/gu;

/** Cells between texts that are side by side. */
const gap = 3;

/** The first of these texts that fit side by side without being cut. */
export function fittingTexts(texts: readonly string[], width: number): string[] {
  let left = width + gap;
  const over = texts.findIndex((text) => {
    left -= widthOf(text) + gap;
    return left < 0;
  });
  return over < 0 ? [...texts] : texts.slice(0, over);
}

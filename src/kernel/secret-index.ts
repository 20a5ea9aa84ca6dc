import { type Spelling, shortestSecret, spellingsOf, unescapeText } from './spellings.ts';

/** Part of a text, from `start` to `end`. */
export interface SecretSpan {
  start: number;
  end: number;
}

/** Secrets, and where a text holds one of them, in any spelling. */
export interface SecretIndex {
  /** The signature of a JWT is a secret of its own. A text that is too short to be a secret is not added. */
  add(secret: string): void;
  delete(secret: string): void;
  /** The places of the secrets, in order and not overlapping. The time depends only on the length of the text. */
  find(text: string): SecretSpan[];
}

/** `known`: the secrets that it has from the start. */
export function createSecretIndex(known: readonly string[] = []): SecretIndex {
  /** Their spellings are made when the first text is searched. */
  const secrets = new Map<string, readonly Spelling[] | undefined>();
  let hasSpaces = false;
  let search: ((text: string) => SecretSpan[]) | undefined;
  const prepare = () => {
    for (const [secret, spellings] of secrets)
      secrets.set(secret, spellings ?? spellingsOf(secret, partOf(secret)));
    return createSearch([...secrets.values()].flatMap((spellings) => spellings ?? []));
  };
  const add = (secret: string) => {
    if (secret.length < shortestSecret || secrets.has(secret)) return;
    secrets.set(secret, undefined);
    hasSpaces ||= secret.includes(' ');
    search = undefined;
  };
  known.forEach(add);
  return {
    add,
    delete(secret) {
      if (secrets.delete(secret)) search = undefined;
    },
    find(text) {
      if (secrets.size === 0) return [];
      search ??= prepare();
      const spans = search(text);
      const isEscaped = text.includes('\\') || text.includes('%') || (hasSpaces && text.includes('+'));
      if (!isEscaped) return spans;
      const unescaped = unescapeText(text);
      const hidden = search(unescaped.text).map(({ start, end }) => unescaped.origin(start, end));
      return joinSpans([...spans, ...hidden]);
    },
  };
}

/** Units that are compared together. */
const blockUnits = 3;

/**
 * Searches for many anchors at once, after Wu and Manber: a block of three units that is in no anchor lets the search
 * skip almost the length of the shortest one.
 */
function createSearch(spellings: readonly Spelling[]): (text: string) => SecretSpan[] {
  const shortest = Math.min(...spellings.map(({ anchor }) => anchor.length));
  const size = Math.min(2 ** 16, 2 ** Math.ceil(Math.log2(64 * spellings.length)));
  const blockAt = (text: string, end: number) =>
    (text.charCodeAt(end) ^ (text.charCodeAt(end - 1) << 5) ^ (text.charCodeAt(end - 2) << 10)) & (size - 1);
  /** How far the next anchor that contains a block can end from it. */
  const skips = new Uint8Array(size).fill(shortest - blockUnits + 1);
  const endingIn = new Map<number, Spelling[]>();
  for (const spelling of spellings) {
    const last = spelling.anchor.length - 1;
    for (let skip = shortest - blockUnits; skip >= 0; skip -= 1) {
      const block = blockAt(spelling.anchor, last - skip);
      skips[block] = Math.min(skips[block] ?? 0, skip);
    }
    const block = blockAt(spelling.anchor, last);
    endingIn.set(block, [...(endingIn.get(block) ?? []), spelling]);
  }
  return (text) => {
    const spans: SecretSpan[] = [];
    for (let at = shortest - 1; at < text.length; ) {
      const block = blockAt(text, at);
      const skip = skips[block] ?? 0;
      if (skip === 0)
        for (const spelling of endingIn.get(block) ?? []) addSpan(spans, text, at + 1, spelling);
      at += skip === 0 ? 1 : skip;
    }
    return spans;
  };
}

/** The signature of a JWT; any other secret as a whole. */
function partOf(secret: string): string {
  const parts = secret.split('.');
  const [, , signature = ''] = parts;
  return parts.length === 3 && signature.length >= shortestSecret ? signature : secret;
}

/**
 * Adds the span of a secret that ends at `end`, if there is one. It takes in those before it that it overlaps, so that each
 * unit of a text is compared once, however long the secrets are.
 */
function addSpan(
  spans: SecretSpan[],
  text: string,
  end: number,
  { secret, anchor, write, shared }: Spelling,
): void {
  let start = end - anchor.length;
  if (start < 0 || !text.startsWith(anchor, start)) return;
  let before = anchor.length;
  let all: string | undefined;
  for (;;) {
    const last = spans.at(-1);
    if (last !== undefined && start < last.end) {
      before += Math.max(0, start - last.start);
      start = Math.min(start, last.start);
      spans.pop();
      continue;
    }
    all ??= write(secret);
    if (start === 0 || before >= all.length || text[start - 1] !== all[all.length - before - 1]) break;
    start -= 1;
    before += 1;
  }
  const span = { start, end };
  if (shared !== undefined) widen(span, text, shared);
  spans.push(span);
}

/** The characters of a code that hold a part of the secret's first and last byte, and the padding. */
function widen(span: SecretSpan, text: string, shared: { before: number; after: number }): void {
  if (shared.before > 0 && isCode(text[span.start - 1])) span.start -= 1;
  if (shared.after > 0 && isCode(text[span.end])) span.end += 1;
  while (text[span.end] === '=') span.end += 1;
}

function isCode(unit = ''): boolean {
  return /[\w+/-]/.test(unit);
}

/** Sorts the spans and merges overlapping ones. */
export function joinSpans(spans: SecretSpan[]): SecretSpan[] {
  const joined: SecretSpan[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    if (last !== undefined && span.start < last.end) last.end = Math.max(last.end, span.end);
    else joined.push(span);
  }
  return joined;
}

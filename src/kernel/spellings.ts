/** Shorter texts are not secrets: replacing them would spoil recordings. In UTF-16 units. */
export const shortestSecret = 6;

/** Units at the end of a secret that identify it. The units before them are replaced as long as they match too. */
const anchorUnits = 32;

/** One way to write a secret. */
export interface Spelling {
  secret: string;
  /** The end of the written secret: a text that contains this contains the secret. */
  anchor: string;
  write: Write;
  /** Base64: how many characters before and after it hold bits of the secret and of its neighbours. */
  shared?: { before: number; after: number };
}

type Write = (secret: string) => string;

const plain: Write = (secret) => secret;
const unescaped: Write = (secret) => unescapeText(secret).text;
/** As a text is read in which each character of the secret is a number: its backslashes escape nothing any more. */
const unslashed: Write = (secret) => unescaped(secret.replaceAll('\\', ''));
const asJson: Write = (secret) => JSON.stringify(secret).slice(1, -1);
const asUrl: Write = (secret) => encodeURIComponent(secret.toWellFormed());
const hex: Write = (secret) => Buffer.from(secret).toString('hex');
const upperHex: Write = (secret) => hex(secret).toUpperCase();

/** `part` is the end of the secret, and a secret of its own: the signature of a token. */
export function spellingsOf(secret: string, part: string): Spelling[] {
  const spellings: Spelling[] = [];
  const add = (write: Write, anchor: string, shared?: Spelling['shared']) =>
    spellings.push({ secret, anchor, write, ...(shared && { shared }) });
  add(plain, tail(part));
  const read = unescaped(part);
  // Too little is left to search for, for example of `%41%42`.
  if (read.length < shortestSecret) for (const write of [asJson, asUrl]) add(write, tail(write(part)));
  else if (unescaped(secret) !== secret) add(unescaped, tail(read));
  const bare = unslashed(part);
  if (bare !== read && bare.length >= shortestSecret) add(unslashed, tail(bare));
  // A whole JSON body may be encoded.
  for (const form of asJson(secret) === secret ? [plain] : [plain, asJson]) {
    const end = Buffer.from(form(part.slice(-anchorUnits)));
    const digits = end.toString('hex').slice(-anchorUnits);
    add((text) => hex(form(text)), digits);
    add((text) => upperHex(form(text)), digits.toUpperCase());
    const bytes = Buffer.from(form(secret));
    for (const overhang of [0, 1, 2]) {
      const shared = { before: Math.sign(phaseOf(bytes.length, overhang)), after: Math.sign(overhang) };
      const anchor = base64(end.subarray(-base64Bytes), overhang).slice(-anchorUnits);
      const write: Write = (text) => base64(Buffer.from(form(text)), overhang);
      add(write, anchor, shared);
      if (/[+/]/.test(base64(bytes, overhang)))
        add((text) => urlAlphabet(write(text)), urlAlphabet(anchor), shared);
    }
  }
  return spellings;
}

/** A copy of the end: a slice would keep the whole text in memory. */
function tail(text: string): string {
  return Buffer.from(text.slice(-anchorUnits), 'utf16le').toString('utf16le');
}

/** Enough for an anchor. */
const base64Bytes = 27;

/** The characters that hold only bits of these bytes. `overhang`: bytes at their end in an incomplete group of three. */
function base64(bytes: Buffer, overhang: number): string {
  // Other bytes may precede them, like the user name in `Basic`.
  const phase = phaseOf(bytes.length, overhang);
  const code = Buffer.concat([Buffer.alloc(phase), bytes]).toString('base64');
  return code.slice(phase === 0 ? 0 : phase + 1, Math.floor(((phase + bytes.length) * 4) / 3));
}

function phaseOf(bytes: number, overhang: number): number {
  return (overhang + 2 * bytes) % 3;
}

function urlAlphabet(code: string): string {
  return code.replaceAll('+', '-').replaceAll('/', '_');
}

/** How often a text is decoded. Each time at most a third of what is still encoded remains. */
const maxLayers = 8;

/** A text without its escapes, and the place of each of its parts in the original text. */
export interface Unescaped {
  text: string;
  /** The place in the text of the units from `start` to `end`, with the backslashes before them. */
  origin(start: number, end: number): { start: number; end: number };
}

/** A run of backslashes, however each of them is escaped, and the number of a character. */
const jsonEscapes = /\\(?:\\|u005[cC])*(?:u([\da-fA-F]{4}))?/g;
/** Non-ASCII bytes, or one ASCII byte. A percent sign may be escaped again: `%2541`. */
const urlEscapes = /(?:%(?:25)*[89a-f][\da-f])+|%(?:25)*([0-7][\da-f])/gi;

/** The letters of the escapes of characters. */
const letters = { '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't' };

/**
 * Undoes what JSON and URLs do to a text, any number of times each: JSON within JSON, a URL within a URL. Backslashes are left
 * out, because those of the text look like those that escape. Two spellings of one text read the same. Takes linear time.
 */
export function unescapeText(text: string): Unescaped {
  const steps: Step[] = [];
  let read = text;
  for (let layer = 0; layer < maxLayers; layer += 1) {
    const url = replaced(read, urlEscapes, readUrl);
    const json = replaced(url.text, jsonEscapes, readJson);
    if (json.text === read) break;
    steps.push(url, json);
    read = json.text;
  }
  return {
    // A form writes a space as a plus sign.
    text: read.replace(/[\b\f\n\r\t]/g, (unit) => letters[unit as keyof typeof letters]).replaceAll(' ', '+'),
    origin: (start, end) =>
      steps.reduceRight((place, step) => ({ start: step.startOf(place.start), end: step.endOf(place.end) }), {
        start,
        end,
      }),
  };
}

function readJson(_: string, digits: string | undefined): string {
  return digits === undefined ? '' : String.fromCharCode(Number.parseInt(digits, 16));
}

function readUrl(match: string, digits: string | undefined): string {
  if (digits !== undefined) return String.fromCharCode(Number.parseInt(digits, 16));
  return Buffer.from(match.replace(/%(?:25)*/g, ''), 'hex').toString();
}

/** A replacement that knows where each unit was. */
interface Step {
  text: string;
  startOf(at: number): number;
  endOf(at: number): number;
}

function replaced(
  text: string,
  pattern: RegExp,
  read: (match: string, digits: string | undefined) => string,
): Step {
  /** Four numbers for each edit: its start and end in the result, and in the text. */
  const edits: number[] = [];
  let grown = 0;
  const result = text.replace(pattern, (match: string, digits: string | undefined, at: number) => {
    const made = read(match, digits);
    edits.push(at + grown, at + grown + made.length, at, at + match.length);
    grown += made.length - match.length;
    return made;
  });
  /** The index of the last edit that begins at or before `at`; negative if there is none. */
  const lastBefore = (at: number) => {
    let [low, high] = [0, edits.length / 4];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((edits[4 * middle] ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    return 4 * (low - 1);
  };
  return {
    text: result,
    startOf(at) {
      const edit = lastBefore(at);
      if (edit < 0) return at;
      const [from = 0, to = 0, start = 0, end = 0] = edits.slice(edit, edit + 4);
      return at < to || (from === to && at === from) ? start : end + at - to;
    },
    endOf(at) {
      const edit = lastBefore(at - 1);
      if (edit < 0) return at;
      const [, to = 0, , end = 0] = edits.slice(edit, edit + 4);
      return at <= to ? end : end + at - to;
    },
  };
}

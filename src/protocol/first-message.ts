import { countText } from './count-text.ts';
import { isRecord } from './error-body.ts';
import { parseJson } from './parse-json.ts';
import { maxTokenBytes } from './token-response.ts';

/** What is wrong with a token, or with the first message of a stream, and what to send instead: two sentences without a full stop. */
export interface TokenProblem {
  why: string;
  advice: string;
}

/** A JWT as compact text. */
const wholeToken = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/** What a JWT may be part of: its own characters, also those of padded parts, and what they may be attached to. */
const words = /[\w+/=.-]+/g;
/** How much of a message is searched for a token. */
const readBytes = 2 * maxTokenBytes;
/** The advice where a device sends anything but the token. */
export const sendAlone = 'send the token alone, exactly as the token endpoint returned it';
const sendFirst = 'send the token first, alone, as text';

/** The JWT in a text that may hold more than the token. */
export function findToken(text: string): string | undefined {
  return wholeToken.test(text) ? text : tokenWithin(text.slice(0, readBytes));
}

/**
 * The first JWT somewhere within other text, also one whose parts are padded: the service that grants it is to blame. Word by
 * word and part by part, so that each character is read a few times at most, whatever a device sends.
 */
function tokenWithin(text: string): string | undefined {
  // Audio hardly ever holds it.
  if (!text.includes('eyJ')) return undefined;
  for (const [word] of text.matchAll(words)) {
    const parts = word.split('.');
    for (const [at, part] of parts.slice(0, -2).entries()) {
      const head = tokenHead(part);
      const payload = head && /^[\w+/-]+={0,2}$/.exec(parts[at + 1] ?? '')?.[0];
      const signature = payload && /^[\w+/-]+={0,2}/.exec(parts[at + 2] ?? '')?.[0];
      if (signature) return `${head}.${payload}.${signature}`;
    }
  }
  return undefined;
}

/** The header of a JWT at the end of what comes before the first dot. */
function tokenHead(part: string): string | undefined {
  const padding = part.endsWith('==') ? 2 : part.endsWith('=') ? 1 : 0;
  const tail = part.slice(part.lastIndexOf('=', part.length - padding - 1) + 1);
  const start = tail.search(/(?<![\w-])eyJ[\w+/-]/);
  return start < 0 ? undefined : tail.slice(start);
}

/** The shortest header of a JWT says nothing but its algorithm, in 20 characters or more. */
const shortestHeader = 16;
const headerStart = new RegExp(`^eyJ[\\w+/-]{${shortestHeader - 3}}`);

/** The text with `mark` in place of anything that looks like a JWT, padded or not, and whatever it is attached to. */
export function withoutTokens(text: string, mark: string): string {
  if (!text.includes('eyJ')) return text;
  return text.replace(words, (word) => {
    const start = tokenStart(word);
    return start < 0 ? word : word.slice(0, start) + mark;
  });
}

/** Where the first JWT of a word starts; -1 if it has none. Other words have these three letters too, and dots. */
function tokenStart(word: string): number {
  // Two dots come after it.
  const before = word.lastIndexOf('.', word.lastIndexOf('.') - 1);
  let start = word.indexOf('eyJ');
  while (start >= 0 && start < before && !startsHeader(word.slice(start, start + shortestHeader)))
    start = word.indexOf('eyJ', start + 1);
  return start < before ? start : -1;
}

/** Whether it decodes to the start of an object, with a name of plain characters. */
function startsHeader(text: string): boolean {
  return (
    headerStart.test(text) && /^\{"[!#-~]+(?:"|$)/.test(Buffer.from(text, 'base64url').toString('latin1'))
  );
}

/** Whether a binary message holds a JWT, which should have come as text. */
export function holdsBinaryToken(message: Buffer): boolean {
  return tokenWithin(message.toString('latin1', 0, readBytes)) !== undefined;
}

/**
 * What is wrong with the form of the first text message of a stream; undefined if it has the form of a token. Specification:
 * "Authentication", rule 3.
 */
export function firstTextProblem(message: string): TokenProblem | undefined {
  const bytes = Buffer.byteLength(message);
  if (bytes > maxTokenBytes)
    return { why: `the first message has ${bytes} bytes, more than any token`, advice: sendAlone };
  if (wholeToken.test(message)) return undefined;
  if (message.trim() === '') return { why: 'the first message is empty', advice: 'send the token' };
  if (wholeToken.test(message.trim()))
    return { why: 'there is white space or a line break around the token', advice: sendAlone };
  if (/^bearer\b/i.test(message)) return { why: 'the token comes after the word Bearer', advice: sendAlone };
  const unquoted = /^(["'`])(.*)\1$/s.exec(message.trim())?.[2];
  if (unquoted !== undefined && wholeToken.test(unquoted))
    return { why: 'the token is in quotes', advice: sendAlone };
  const holdsToken = tokenWithin(message) !== undefined;
  if (isRecord(parseJson(message)))
    return holdsToken
      ? { why: 'the token is wrapped in JSON', advice: sendAlone }
      : { why: 'the first message is JSON without a token', advice: sendFirst };
  if (holdsToken) return { why: 'there is other text around the token', advice: sendAlone };
  if (message.startsWith('eyJ'))
    return { why: `the token is cut off after ${bytes} bytes`, advice: sendAlone };
  return {
    why: `the first message (${countText(bytes, 'byte')}) is not a JWT: a JWT has three base64url parts with dots between them`,
    advice: sendAlone,
  };
}

/** What is wrong if a binary message comes first. */
export function firstBinaryProblem(bytes: number, holdsToken: boolean): TokenProblem {
  if (holdsToken)
    return { why: 'the token arrived as a binary message', advice: 'send it as a text message' };
  return { why: `the first message is binary (${bytes} bytes) and not a token`, advice: sendFirst };
}

/** What is wrong if no first text message came. `elsewhere`: the part of the upgrade request that holds a token. */
export function absenceProblem(elsewhere: string | undefined, binaryMessages: number): TokenProblem {
  const advice = 'send it as the first text message';
  if (elsewhere !== undefined)
    return { why: `the token arrived in ${elsewhere}, where the service does not look for it`, advice };
  if (binaryMessages === 0) return { why: 'no token arrived', advice };
  const came = countText(binaryMessages, 'binary message');
  return { why: `no token arrived, but ${came} did`, advice };
}

/** Where a device put a token on the upgrade request; the specification has none there. */
export function tokenPlace(url: string, headers: Readonly<Record<string, unknown>>): string | undefined {
  const places: [text: unknown, place: string][] = [
    [headers.authorization, 'the Authorization header'],
    [headers['sec-websocket-protocol'], 'the Sec-WebSocket-Protocol header'],
    [url, 'the URL'],
  ];
  return places.find(([text]) => typeof text === 'string' && tokenWithin(text) !== undefined)?.[1];
}

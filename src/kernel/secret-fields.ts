import { redacted } from './redact.ts';
import { shortestSecret } from './spellings.ts';

/** Ends of the names of parameters and headers whose values grant access; in lower case, without separators. */
const secretEnds = [
  'token',
  'apikey',
  'secret',
  'password',
  'passphrase',
  'signature',
  'credential',
  'credentials',
  'authorization',
  'cookie',
];
const secretNames: ReadonlySet<string> = new Set(['key', 'auth', 'sig', 'jwt', 'pass', 'pwd']);
/** What says who or what kind, also within an object that is a secret: ends of names, and whole names. */
const describingEnds = ['deviceid', 'devicename', 'type', 'method', 'scheme', 'provider'];
const describingNames: ReadonlySet<string> = new Set([
  'device',
  'id',
  'name',
  'kind',
  'alg',
  'algorithm',
  'realm',
]);
const urlHeaders: ReadonlySet<string> = new Set(['location', 'referer']);
const longestName = 64;
/** Of a parameter without a name. Shorter ones are words. */
const shortestBareSecret = 16;

/** Whether a parameter or header of this name grants access. */
function isSecretName(name: string): boolean {
  const plain = plainName(name);
  return secretNames.has(plain) || secretEnds.some((end) => plain.endsWith(end));
}

function isDescribingName(name: string): boolean {
  const plain = plainName(name);
  return describingNames.has(plain) || describingEnds.some((end) => plain.endsWith(end));
}

function plainName(name: string): string {
  return name
    .slice(-longestName)
    .toLowerCase()
    .replace(/[^a-z\d]/g, '');
}

/** A URL without what grants access: user and password, secret parameters, and the fragment, which is never sent. */
export function concealUrl(url: string): string {
  const { address, query, fragment } = splitUrl(url);
  const parameters = query?.split('&').map((parameter) => {
    const { name, secret } = readParameter(parameter);
    return secret === undefined ? parameter : `${name}${redacted}`;
  });
  return [
    address.replace(/\/\/[^@/]*@/, `//${redacted}@`),
    parameters === undefined ? '' : `?${parameters.join('&')}`,
    fragment === undefined ? '' : `#${redacted}`,
  ].join('');
}

/** What grants access in the query of a URL. */
export function secretsInUrl(url: string): string[] {
  const { query = '' } = splitUrl(url);
  return query.split('&').flatMap((parameter) => readParameter(parameter).secret ?? []);
}

/** The value of a header without what grants access. The scheme of an authorization stays. */
export function concealHeaderValue(name: string, value: string): string {
  if (urlHeaders.has(name.toLowerCase())) return concealUrl(value);
  const secret = secretInHeader(name, value);
  return secret === undefined ? value : value.slice(0, value.length - secret.length) + redacted;
}

/** What grants access in a header. */
export function secretInHeader(name: string, value: string): string | undefined {
  if (!isSecretName(name) || value === '') return undefined;
  return withoutScheme(name, value);
}

function withoutScheme(name: string, value: string): string {
  const [scheme = ''] = /authorization$/i.test(name) ? (/^[a-z]{1,16} +(?=\S)/i.exec(value) ?? []) : [];
  return value.slice(scheme.length);
}

/** The name of a field for a key, and what is between it and the value. */
const keyField = /api[_-]?key["']?\s*[:=]\s*/gi;

/** A text with fields, as JSON or as a form, without the values of `apiKey`. An empty key is not a secret. */
export function concealKey(text: string): string {
  let rest = '';
  let done = 0;
  for (const { index, 0: name } of text.matchAll(keyField)) {
    const start = index + name.length;
    // The end of a value in brackets is not searched for: there may be one after another.
    if (start <= done || /[[{]/.test(text[start] ?? '')) continue;
    const end = endOfValue(text, start);
    const value = text.slice(start, end);
    if (/^(?:""?|''?|null|true|false|-?\d[\d.e+-]{0,30})?$/i.test(value)) continue;
    const quote = /^["']/.exec(value)?.[0] ?? '';
    rest += `${text.slice(done, start)}${quote}${redacted}${quote}`;
    done = end;
  }
  return rest + text.slice(done);
}

/** A body has no more secrets than this. */
const mostSecrets = 20;

/** The values of `apiKey` in a text with fields, as JSON or as a form: also numbers, and the first one of a list. */
export function secretsInText(text: string): string[] {
  const secrets = new Set<string>();
  let done = 0;
  for (const { index, 0: name } of text.matchAll(keyField)) {
    if (secrets.size >= mostSecrets) break;
    if (index < done) continue;
    const lead = /[[(\s]*/y;
    lead.lastIndex = index + name.length;
    const start = lead.lastIndex + (lead.exec(text)?.[0].length ?? 0);
    if (text[start] === '{') continue;
    done = endOfValue(text, start);
    const value = text.slice(start, done).replace(/^["']|["']$/g, '');
    if (value.length >= shortestSecret) secrets.add(value);
  }
  return [...secrets];
}

/**
 * Every text under the name of a secret, at any depth of a value that was read from JSON, but not the fields there that say who
 * or what kind.
 */
export function secretsInFields(value: unknown): string[] {
  const secrets = new Set<string>();
  const waiting: { name: string; isSecret: boolean; part: object }[] = [];
  // Nearly all of a large body can hold no secret: only lists and objects wait, and each has its name judged once.
  const add = (name: string, isSecret: boolean, part: unknown) => {
    if (typeof part === 'object' && part !== null) waiting.push({ name, isSecret, part });
    else if (isSecret && typeof part === 'string' && secrets.size < mostSecrets) {
      const secret = withoutScheme(name, part);
      if (secret.length >= shortestSecret) secrets.add(secret);
    }
  };
  add('', false, value);
  for (let next = waiting.pop(); next !== undefined && secrets.size < mostSecrets; next = waiting.pop()) {
    const { name, isSecret, part } = next;
    if (Array.isArray(part)) for (const inner of part) add(name, isSecret, inner);
    else
      for (const own of Object.keys(part)) {
        const inner: unknown = Reflect.get(part, own);
        if (!mayHoldSecret(inner)) continue;
        if (isSecret && !isDescribingName(own)) add(name, true, inner);
        else add(own, isSecretName(own), inner);
      }
  }
  return [...secrets];
}

function mayHoldSecret(value: unknown): boolean {
  if (typeof value === 'string') return value.length >= shortestSecret;
  return typeof value === 'object' && value !== null;
}

/**
 * The start of a text in JSON, or of a number that is as long as a secret: most are shorter, and each would cost a search. It
 * does not read to the end of the number: a pattern cannot match some million characters.
 */
const textOrNumber = new RegExp(`"|[-\\d][^\\s,;&}\\]]{${shortestSecret - 1}}`, 'g');

/** JSON with 0 in place of each number that is a secret: with any other mark it would not be JSON, or have no number there. */
export function concealNumbers(json: string, isSecret: (text: string) => boolean): string {
  let rest = '';
  let done = 0;
  const next = new RegExp(textOrNumber);
  for (let found = next.exec(json); found !== null; found = next.exec(json)) {
    const { index } = found;
    const end = endOfValue(json, index);
    next.lastIndex = end;
    if (json[index] === '"' || !isSecret(json.slice(index, end))) continue;
    rest += `${json.slice(done, index)}0`;
    done = end;
  }
  return rest + json.slice(done);
}

/** What ends a value without quotes. */
const valueEnd = /[\s,;&}\]]|$/g;

function endOfValue(text: string, start: number): number {
  const quote = text[start];
  if (quote !== '"' && quote !== "'") {
    valueEnd.lastIndex = start;
    return valueEnd.exec(text)?.index ?? text.length;
  }
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === quote) return at + 1;
  }
  return text.length;
}

function splitUrl(url: string): { address: string; query: string | undefined; fragment: string | undefined } {
  const [, address = '', query, fragment] = /^([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(url) ?? [];
  return { address, query, fragment };
}

/** `name` with its equals sign. `secret`: set if the value grants access, without its percent-encoding. */
function readParameter(parameter: string): { name: string; secret: string | undefined } {
  const equals = parameter.indexOf('=');
  const name = decoded(parameter.slice(0, Math.max(0, equals)));
  const value = parameter.slice(equals + 1);
  const isSecret =
    equals < 0 ? value.length >= shortestBareSecret : isSecretName(name) || value.startsWith('eyJ');
  return {
    name: parameter.slice(0, equals + 1),
    secret: isSecret && value !== '' ? decoded(value) : undefined,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

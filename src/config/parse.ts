import { apiVersions } from '../protocol/paths.ts';
import {
  expectedDuration,
  expectedUnit,
  lacksUnit,
  longestDurationMs,
  readDuration,
} from '../protocol/read-duration.ts';

/**
 * Reads one value of the command line, the environment or a config file. Throws an `Error` with what was expected. `choices`:
 * every valid text, if there are only a few.
 */
export type Parse<T> = ((text: string) => T) & { readonly choices?: readonly string[] };

function expected(what: string): never {
  throw new Error(`expected ${what}`);
}

export const parseText: Parse<string> = (text) => (text === '' ? expected('some text') : text);

/** A key: what surrounds it, such as the line end of a secret store, is not part of it. */
export const parseKey: Parse<string> = (text) => text.trim() || expected('a key');

/** A file to write. Standard output has the lines of the command. */
export const parseOutputFile: Parse<string> = (text) =>
  text === '-' ? expected('a file: standard output has the lines of the command') : parseText(text);

export function parseInteger(min: number, max: number): Parse<number> {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : expected(`a whole number from ${min} to ${max}`);
  };
}

/** A number of processes, or one of these words. */
export function parseProcesses<const Word extends string>(...words: Word[]): Parse<number | Word> {
  return (text) => {
    const word = words.find((one) => one === text);
    if (word !== undefined) return word;
    const value = Number(/^\d{1,3}$/.test(text) ? text : Number.NaN);
    if (value >= 1 && value <= maxProcesses) return value;
    return expected(`${words.join(', ')} or a whole number from 1 to ${maxProcesses}`);
  };
}

const maxProcesses = 256;

/** `1500ms`, `10s`, `2m`, or 0: any other number needs its unit. */
export const parseDuration: Parse<number> = (text) => {
  if (lacksUnit(text)) return expected(expectedUnit(text.trim()));
  const value = readDuration(text);
  if (value === undefined) return expected(expectedDuration);
  return value <= longestDurationMs ? value : expected('a duration of at most 24 days');
};

/** `64KiB`, `1MiB`, or a number of bytes. */
export const parseBytes: Parse<number> = (text) => {
  const match = /^(\d{1,12})\s*(B|KiB|MiB)?$/i.exec(text.trim());
  if (match === null) return expected('a size, such as 65536, 64KiB or 1MiB');
  const unit = { b: 1, kib: 1024, mib: 1024 * 1024 }[(match[2] ?? 'B').toLowerCase()] ?? 1;
  return Number(match[1]) * unit;
};

export function parseChoice<const T extends string>(choices: readonly T[]): Parse<T> {
  const parse = (text: string) =>
    choices.find((choice) => choice === text) ?? expected(`one of ${choices.join(', ')}`);
  return Object.assign(parse, { choices });
}

export const parseApiVersion = parseChoice(apiVersions);

export function parseUrl(...protocols: string[]): Parse<string> {
  return (text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !protocols.includes(url.protocol) || url.hostname === '') {
      return expected(`a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`);
    }
    if (url.username !== '' || url.password !== '') return expected('a URL without a user name or password');
    if (/[?#]/.test(url.href)) return expected('a URL without a query or fragment');
    return url.href.replace(/(?<!\/)\/+$/, '');
  };
}

/** A file, or the address of one. */
export const parseUrlOrFile: Parse<string> = (text) => {
  if (text !== '' && !isWebAddress(text)) return text;
  if (!URL.canParse(text)) return expected('a file, or a URL such as https://voice.example/keys.json');
  const { username, password } = new URL(text);
  return username + password === '' ? text : expected('a URL without a user name or password');
};

/** Whether a text that may also name a file is an address, valid or not. */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

/** `voice.example`, `voice.example:8443` or `[::1]`. */
export const parseHost: Parse<string> = (text) => {
  const isHost = /^[\w.-]+(:\d{1,5})?$|^\[[\da-f:.]+\](:\d{1,5})?$/i.test(text);
  return isHost ? text.toLowerCase() : expected('a host, such as voice.example or voice.example:8443');
};

/** `realtime`, `max`, or a factor. */
export const parsePace: Parse<number | 'max'> = (text) => {
  if (text === 'max') return 'max';
  if (text === 'realtime') return 1;
  return readFactor(text) ?? expected('realtime, max, or a factor from 0.01 to 1000');
};

export const parseFactor: Parse<number> = (text) =>
  readFactor(text) ?? expected('a factor from 0.01 to 1000');

function readFactor(text: string): number | undefined {
  const factor = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  return factor >= 0.01 && factor <= 1_000 ? factor : undefined;
}

export const parseProbability: Parse<number> = (text) => {
  const value = /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) ? Number(text) : 0;
  return value > 0 && value <= 1 ? value : expected('a probability above 0 and up to 1');
};

/** Audio backends, in the order in which they are tried. */
export const audioBackendNames = [
  'pulse',
  'pipewire',
  'naudiodon',
  'alsa',
  'decibri',
  'ffmpeg',
  'sox',
] as const;

/** How the service speaks: a mode, or a mode with an argument. */
export const plainReplies = ['parrot', 'echo', 'tone', 'silence'] as const;
export const repliesWithArgument = { file: 'PATH', exec: 'COMMAND', module: 'PATH', replay: 'DIR' } as const;

/** Every reply mode as written on the command line. */
export const replyModes: readonly string[] = [
  ...plainReplies,
  ...Object.entries(repliesWithArgument).map(([name, argument]) => `${name}:${argument}`),
];

/** The same, for completion. */
export const replyValues: readonly string[] = [
  ...plainReplies,
  ...Object.keys(repliesWithArgument).map((name) => `${name}:`),
];

/** Checks that the reply mode exists; the file or command in its argument is read later. */
export const parseReplyMode: Parse<Promise<string>> = async (text) => {
  const [name = '', ...argument] = text.split(':');
  if ((plainReplies as readonly string[]).includes(text)) return text;
  if (Object.hasOwn(repliesWithArgument, name) && argument.join(':') !== '') return text;
  if (Object.hasOwn(repliesWithArgument, name))
    return expected(`${name}:${repliesWithArgument[name as keyof typeof repliesWithArgument]}`);
  const { didYouMean } = await import('../protocol/suggestion.ts');
  const meant = didYouMean(name, [...plainReplies, ...Object.keys(repliesWithArgument)]);
  return expected(`one of ${replyModes.join(', ')}${meant}`);
};

/** The file or folder that a reply mode reads. */
export function fileInReply(reply: string): string | undefined {
  return /^(?:file|module|replay):(.+)/s.exec(reply)?.[1];
}

/** The address of a Redis. Refuses a password with an unescaped `/`, `?` or `#`: the host would end there. */
export const parseRedisUrl: Parse<string> = (text) => {
  const { protocol, username, password, pathname, search, hash } = new URL(URL.canParse(text) ? text : 'x:');
  const isRedis =
    /^rediss?:$/.test(protocol) &&
    /^(?:\/\d*)?$/.test(pathname) &&
    !`${search}${hash}`.includes('@') &&
    isDecodable(username + password);
  return isRedis
    ? text
    : expected(
        'redis://USER:PASSWORD@HOST:PORT/NUMBER, with / ? # @ and % of the password as %2F %3F %23 %40 and %25',
      );
};

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

export const parseFlag: Parse<boolean> = (text) => {
  if (text === 'true') return true;
  return text === 'false' ? false : expected('true or false');
};

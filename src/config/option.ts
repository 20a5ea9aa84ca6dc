import { hidden, valueOrKind } from '../protocol/schema-problem.ts';
import { type Parse, parseFlag, parseOutputFile, parseText } from './parse.ts';

/** Every command that takes options, by its full name. */
export type CommandName =
  | 'serve'
  | 'exec'
  | 'replay'
  | 'token'
  | 'stream'
  | 'inspect'
  | 'check'
  | 'learn'
  | 'proxy'
  | 'drill'
  | 'load'
  | 'load merge'
  | 'compare'
  | 'audio'
  | 'mcp'
  | 'doctor'
  | `emulator ${'state' | 'journal' | 'reset' | 'clock' | 'fault' | 'event' | 'send' | 'speak' | 'close'}`;

/** Commands that often take the same options. */
export const serveCommands = ['serve', 'replay'] as const;
export const emulatorCommands = [...serveCommands, 'exec'] as const;
export const sessionCommands = ['token', 'stream'] as const;
export const conformanceCommands = ['check', 'learn'] as const;
export const loadResultCommands = ['load', 'load merge'] as const;
export const comparableCommands = ['stream', 'check', 'drill', ...loadResultCommands] as const;
export const streamControlCommands = [
  'emulator journal',
  'emulator event',
  'emulator send',
  'emulator speak',
  'emulator close',
] as const;
export const controlCommands = [
  ...streamControlCommands,
  'emulator state',
  'emulator reset',
  'emulator clock',
  'emulator fault',
] as const;

/** The groups of options in the order of help and docs, each with its heading. */
export const groups = {
  source: 'What to stream:',
  sessions: 'Sessions:',
  situations: 'Situations:',
  target: 'Service:',
  service: 'Service:',
  print: 'What to print:',
  asked: 'Questions:',
  verdicts: 'Verdicts:',
  dialect: 'Dialect:',
  emulator: 'What the service does:',
  streams: 'Streams:',
  scope: 'When the fault strikes:',
  message: 'What to send:',
  access: 'Who may connect:',
  listen: 'Where it listens:',
  tls: 'TLS:',
  shared: 'Several emulators as one service:',
  expectations: 'What must happen:',
  sound: 'Sound devices:',
  pace: 'Pace and time limits:',
  loadDevices: 'Devices:',
  processes: 'Processes and machines:',
  metrics: 'Metrics:',
  reach: 'What the client may do:',
  files: 'Files to write:',
  screen: 'Screen and page:',
  general: 'General:',
} as const;

export type Group = keyof typeof groups;

/**
 * Where the values of a setting or an argument come from, for completion and `help --json`: lists of voicectl, the
 * config file, or the folders of the user.
 */
export type ValueList =
  | 'faults'
  | 'networks'
  | 'rules'
  | 'exchanges'
  | 'situations'
  | 'scenarios'
  | 'sounds'
  | 'journal'
  | 'profiles'
  | 'files'
  | 'folders';

/** The values themselves, or the list that has them. A value that ends with `:` is followed by an argument. */
export type Values = readonly string[] | ValueList;

/**
 * What a command does with a file: no output may be a file that is read. A script also names sounds that are read. An output
 * may replace a file that is `merged` into it.
 */
export type PathUse = 'read' | 'script' | 'merged' | 'written';

/** One setting: who takes it, its flag, its other sources, how it is parsed, what it goes with, and its help. */
export interface OptionSpec {
  /** In Commander's form: `--name <VALUE>`, `--name [VALUE]`, or `--name` for a switch. */
  flag: string;
  /** The commands that take it. */
  commands: readonly CommandName[] | 'every';
  /** Where help and docs show it. */
  group: Group;
  help: string;
  /**
   * Default: any text for a flag with a value, true or false for a switch. May load what it needs, such as the catalogue of
   * faults: then it returns a promise.
   */
  parse?: Parse<unknown>;
  env?: string;
  /** As it would be written on the command line. */
  default?: string;
  /** Shown as the default if that is not a value. */
  defaultText?: string;
  /** May be given several times; the values are collected. */
  repeatable?: true;
  /** Meaning of `--name` alone if the value is optional. */
  preset?: string;
  /** A switch with an opposite, `--no-NAME`. */
  negatable?: true;
  /** Not read from a config file: it makes sense only for one run. */
  flagOnly?: true;
  /** Its value is never shown. */
  secret?: true;
  /** Where its valid values are listed, in one sentence. */
  hint?: string;
  /** Its values, if neither its parser nor the word in its flag (`<FILE>`, `<DIR>`) gives them. */
  values?: Values;
  /** How the file that it names is used. Default: it is read, if the word in its flag says FILE or PATH. */
  path?: PathUse;
  /** The file in its value, if that is more than a path. */
  fileIn?(value: string): string | undefined;
  /** The settings that it needs, each with the reason; only in commands that take them. */
  needs?: Readonly<Record<string, string>>;
  /** An earlier name of its flag, without dashes. It still works, also in camel case as a config key. */
  old?: string;
  /** Earlier names of values, each with the present one. */
  oldValues?: Readonly<Record<string, string>>;
  /** The settings whose flags cannot be combined with its own, each with the reason. */
  without?: Readonly<Record<string, string>>;
}

/** The values that a setting takes; undefined for a switch, and where there is no list. */
export function valuesOf({ flag, parse, values }: OptionSpec): Values | undefined {
  const [, word] = /[<[]([^>\]]+)/.exec(flag) ?? [];
  if (word === undefined) return undefined;
  return (
    values ?? parse?.choices ?? (/FILE|PATH/.test(word) ? 'files' : word === 'DIR' ? 'folders' : undefined)
  );
}

/** How the file that a setting names is used; undefined if it names none. */
export function pathUseOf({ flag, path }: OptionSpec): PathUse | undefined {
  return path ?? (/(?:FILE|PATH)>/.test(flag) ? 'read' : undefined);
}

/** A setting beside others of the same commands and the same group. */
type OptionRow = Omit<OptionSpec, 'commands' | 'group'>;

/** The settings of a group that the same commands take. Keeps the type of each value. */
export function section<
  const Commands extends OptionSpec['commands'],
  const Name extends Group,
  const Rows extends Readonly<Record<string, OptionRow>>,
>(commands: Commands, group: Name, rows: Rows) {
  const specs = Object.entries(rows).map(([name, row]) => [name, { ...row, commands, group }]);
  return Object.fromEntries(specs) as {
    [Setting in keyof Rows]: Rows[Setting] & { commands: Commands; group: Name };
  };
}

/** Reads one value of a setting. */
export function parseValue({ parse, flag, path }: OptionSpec, text: string): unknown {
  const parseWord = path === 'written' ? parseOutputFile : parseText;
  return (parse ?? (flag.includes('<') ? parseWord : parseFlag))(text);
}

/** An invalid value, in a form that may be shown. */
export interface WrongValue {
  value: unknown;
  /** What was expected, or what is wrong, in the words of the parser. */
  why: string;
  /** Its place in a list. */
  index?: number;
}

/**
 * Reads the value of a setting: text or `true` of a flag, or what a config file holds. A repeatable setting gives a
 * list. Calls `onWrong` for each value that cannot be used.
 */
export async function readValue(
  spec: OptionSpec,
  raw: unknown,
  onWrong: (wrong: WrongValue) => void,
): Promise<unknown> {
  const one = async (value: unknown, index?: number) => {
    try {
      return await readSingle(spec, value);
    } catch (thrown) {
      const why = (thrown as Error).message;
      onWrong({ value: show(spec, value), why, ...(index === undefined ? {} : { index }) });
      return undefined;
    }
  };
  if (!spec.repeatable) return one(raw);
  return Array.isArray(raw) ? Promise.all(raw.map(one)) : [await one(raw)];
}

function readSingle(spec: OptionSpec, raw: unknown): unknown {
  const { preset } = spec;
  if (raw === true && preset !== undefined) return parseValue(spec, preset);
  if (!['string', 'number', 'boolean'].includes(typeof raw)) throw new Error('expected a single value');
  return parseValue(spec, newValue(spec, raw) ?? String(raw));
}

/** The present name of a value with an earlier name; undefined for any other value. */
export function newValue({ oldValues }: OptionSpec, raw: unknown): string | undefined {
  return oldValues && Object.hasOwn(oldValues, String(raw)) ? oldValues[String(raw)] : undefined;
}

/** The old name of a setting as a config key, and as Commander has it. */
export function oldKey({ old }: OptionSpec): string | undefined {
  return old && camelCase(old);
}

/** `device-timeout` as `deviceTimeout`. */
export function camelCase(name: string): string {
  return name.replace(/-(.)/g, (_dash, letter: string) => letter.toUpperCase());
}

/** An invalid value in a form that may be shown: without secrets, and a list or an object only by its kind. */
function show({ secret }: OptionSpec, raw: unknown): unknown {
  if (secret) return hidden;
  return typeof raw === 'string' ? withoutSecrets(raw) : valueOrKind(raw);
}

/** Neither user, query nor fragment of a URL is shown: each may grant access. */
function withoutSecrets(text: string): string {
  const url = /^[a-z][a-z\d+.-]{0,20}:\/\//i.test(text) ? text.replace(/[?#].*/s, '?…') : text;
  return url.replace(/\/\/[^@/]*@/, '//…@');
}

import { type OptionSpec, type Values, valuesOf } from '../../config/option.ts';
import { flagOf, generalOptions, type OptionName, optionSpec } from '../../config/options.ts';
import type { CommandSpec } from '../command.ts';
import { allCommands, commands, ownCommands, ownFlags } from '../commands.ts';
import { type ListedValue, type ListSources, listValues } from '../value-lists.ts';

/** Completions: values, and whether the shell adds its files or folders. */
export interface Answer {
  values: readonly ListedValue[];
  paths: 'none' | 'files' | 'folders';
}

/** The completions of the last word. */
export async function answerCompletion(
  words: readonly string[],
  sources: Omit<ListSources, 'config'>,
): Promise<Answer> {
  const { values, paths } = await offerFor(readLine(words.slice(0, -1)), words.at(-1) ?? '', sources);
  const [, typed = words.at(-1) ?? ''] = /^--[\w-]+=(.*)$/s.exec(words.at(-1) ?? '') ?? [];
  return { values: values.filter(({ value }) => value.startsWith(typed)), paths };
}

/** The command line up to the word that is being typed. */
interface Line {
  /** Words that are neither flags nor their values. */
  plain: string[];
  spec: CommandSpec | undefined;
  /** The setting whose value comes next. */
  awaited: OptionSpec | undefined;
  /** Words of another program follow. */
  isForeign: boolean;
  config: string | undefined;
}

function readLine(words: readonly string[]): Line {
  const line: Line = { plain: [], spec: undefined, awaited: undefined, isForeign: false, config: undefined };
  for (const word of words) {
    if (line.awaited !== undefined) {
      if (line.awaited === optionSpec('config')) line.config = word;
      line.awaited = undefined;
    } else if (line.isForeign || (!word.startsWith('-') && word !== '')) {
      line.plain.push(word);
      line.spec = specOf(line.plain) ?? line.spec;
      line.isForeign ||= line.spec?.passThrough === true && line.plain.length > nameLength(line.spec);
    } else if (word === '--') line.isForeign = true;
    else if (!word.includes('=')) {
      const spec = flagsOf(line.spec).get(word);
      line.awaited = spec?.flag.includes('<') ? spec : undefined;
    }
  }
  return line;
}

async function offerFor(line: Line, current: string, sources: ListSources): Promise<Answer> {
  const { spec, awaited, isForeign, config } = line;
  const [, flag] = /^(--[\w-]+)=/.exec(current) ?? [];
  const assigned = flag === undefined || isForeign ? undefined : flagsOf(spec).get(flag);
  const setting = awaited ?? assigned;
  const offer = (values: Values | undefined) => offerValues(values, { ...sources, config });
  if (setting !== undefined) return offer(valuesOf(setting));
  if (current.startsWith('-') && !isForeign) return { values: listFlags(line), paths: 'none' };
  const isHelp = line.plain[0] === 'help';
  const named = isHelp ? line.plain.slice(1) : line.plain;
  const names = named.length === 0 ? listCommands() : namesBelow(named);
  if (isHelp || names.length > 0) return { values: names, paths: 'none' };
  return offer(argumentAt(line));
}

async function offerValues(values: Values | undefined, sources: ListSources): Promise<Answer> {
  if (values === undefined) return { values: [], paths: 'none' };
  // An included one has a name, the user's own is a file.
  const isFile = values === 'files' || values === 'sounds' || values === 'scenarios';
  const paths = isFile ? 'files' : values === 'folders' ? 'folders' : 'none';
  return { values: await listValues(values, sources), paths };
}

/** The values of the positional argument that comes next. */
function argumentAt({ plain, spec, isForeign }: Line): Values | undefined {
  const own = ownCommands.find(({ name }) => name === plain[0]);
  if (own !== undefined) return own.args[plain.length - 1]?.[2];
  if (spec?.args === undefined) return isForeign ? 'files' : undefined;
  const last = spec.args.at(-1);
  const isEndless = last?.[0].includes('...') === true;
  const [, , values] = spec.args[plain.length - nameLength(spec)] ?? (isEndless ? last : undefined) ?? [];
  return values;
}

const nameLength = ({ name }: CommandSpec) => name.split(' ').length;

function specOf(plain: readonly string[]): CommandSpec | undefined {
  const name = plain.join(' ');
  return allCommands.find(({ spec }) => spec.name === name || spec.old === name)?.spec;
}

function listCommands(): ListedValue[] {
  const own = commands.map((one) => {
    const { name, summary } = 'spec' in one ? one.spec : one;
    return { value: name, help: summary };
  });
  return [...own, ...ownCommands.map(({ name, summary }) => ({ value: name, help: summary }))];
}

/** The commands below these words. */
function namesBelow(plain: readonly string[]): readonly ListedValue[] {
  const group = commands.find((one) => 'subcommands' in one && one.name === plain[0]);
  if (plain.length > 1 || group === undefined || !('subcommands' in group)) return [];
  return group.subcommands.map(({ spec }) => ({
    value: spec.name.slice(group.name.length + 1),
    help: spec.summary,
  }));
}

const namesOf = (spec: CommandSpec | undefined): readonly OptionName[] => [
  ...(spec?.options ?? []),
  ...generalOptions,
];

/** The settings of a command by each spelling of their flags, old ones included. */
function flagsOf(spec: CommandSpec | undefined): Map<string, OptionSpec> {
  return new Map(
    namesOf(spec).flatMap((name) => {
      const { flag, old } = optionSpec(name);
      const spellings = [...flag.matchAll(/(?<![\w-])--?[\w-]+/g)].map(([spelling]) => spelling);
      return [...spellings, ...(old === undefined ? [] : [`--${old}`])].map(
        (spelling) => [spelling, optionSpec(name)] as const,
      );
    }),
  );
}

function listFlags({ plain: [first], spec }: Line): ListedValue[] {
  const help = { value: '--help', help: 'show this help' };
  const own = ownFlags(first).map(([value, meaning]) => ({ value, help: meaning }));
  if (own.length > 0) return [...own, help];
  if (spec === undefined) return [help, { value: '--version', help: 'print the version' }];
  const flags = namesOf(spec).flatMap((name) => {
    const { help: meaning, negatable } = optionSpec(name);
    const own = { value: flagOf(name), help: meaning };
    return negatable
      ? [own, { value: own.value.replace('--', '--no-'), help: `turn ${own.value} off` }]
      : [own];
  });
  return [...flags, help];
}

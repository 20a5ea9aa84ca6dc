import { type CommandName, camelCase, type Group, groups, type OptionSpec } from './option.ts';
import { connectionSettings, outputSettings, tokenSettings } from './options/connection.ts';
import { controlSettings, mcpSettings } from './options/control.ts';
import { emulatorSettings } from './options/emulator.ts';
import { expectationSettings } from './options/expectation.ts';
import { loadSettings } from './options/load.ts';
import { proxySettings } from './options/proxy.ts';
import { inspectSettings, streamSettings } from './options/stream.ts';
import { checkSettings, compareSettings, drillSettings, learnSettings } from './options/verdicts.ts';
import type { Parse } from './parse.ts';

/**
 * Every setting of every command, one row each. Flags, environment, config keys, commands, checks, help,
 * completion and the tables of docs/CLI.md come from the row. Within a group they are in the order of the help.
 */
export const options = {
  ...tokenSettings,
  ...connectionSettings,
  ...streamSettings,
  ...emulatorSettings,
  ...expectationSettings,
  ...checkSettings,
  ...learnSettings,
  ...drillSettings,
  ...proxySettings,
  ...loadSettings,
  ...compareSettings,
  ...controlSettings,
  ...mcpSettings,
  ...inspectSettings,
  ...outputSettings,
};

export type OptionName = keyof typeof options;

/** The options that a command takes, without the general ones. */
export type OptionOf<Name extends CommandName> = {
  [Option in OptionName]: (typeof options)[Option]['commands'] extends readonly (infer Taker)[]
    ? Name extends Taker
      ? Option
      : never
    : never;
}[OptionName];
export type OptionIn<Name extends Group> = {
  [Option in OptionName]: (typeof options)[Option]['group'] extends Name ? Option : never;
}[OptionName];

/** What one value is read as: by its parser, or without one as text, or true or false for a switch. */
type ParsedBy<S> = S extends { parse: Parse<infer T> }
  ? Awaited<T>
  : S extends { flag: `${string}<${string}` }
    ? string
    : boolean;
type ValueOf<S> = S extends { repeatable: true } ? ParsedBy<S>[] : ParsedBy<S>;
type IsCertain<S> = S extends { default: string } | { repeatable: true } ? true : false;

/** The values of some settings. Those without a default may be undefined. */
export type Settings<Names extends OptionName> = {
  [Name in Names]: IsCertain<(typeof options)[Name]> extends true
    ? ValueOf<(typeof options)[Name]>
    : ValueOf<(typeof options)[Name]> | undefined;
};

export const optionNames = Object.keys(options) as OptionName[];

/** The entry of the table as a general definition. */
export function optionSpec(name: OptionName): OptionSpec {
  return options[name];
}

/** The flag of a setting, as it is typed. */
export function flagOf(name: OptionName): string {
  return /--[\w-]+/.exec(options[name].flag)?.[0] ?? '';
}

/** Commander's name of a setting. */
export function flagKey(name: OptionName): string {
  return camelCase(flagOf(name).replace(/^--(no-)?/, ''));
}

const groupOrder = Object.keys(groups) as Group[];
/** All settings, in the order of help and docs. */
const ordered = groupOrder.flatMap((group) => optionNames.filter((name) => options[name].group === group));

/** The options of a command in the order of its help, without the general ones. */
export function optionsOf<const Name extends CommandName>(command: Name): readonly OptionOf<Name>[] {
  return ordered.filter((name) => {
    const { commands } = optionSpec(name);
    return commands !== 'every' && commands.includes(command);
  }) as OptionOf<Name>[];
}

/** The options of every command. */
export const generalOptions = ordered.filter(
  (name): name is OptionIn<'general'> => optionSpec(name).commands === 'every',
);

/** Options below their headings. Neighbouring groups with the same heading are one. */
export function underHeadings(
  names: readonly OptionName[],
  headings: Readonly<Partial<Record<Group, string>>> = {},
): readonly (readonly [heading: string, names: readonly OptionName[]])[] {
  const sections = new Map<string, OptionName[]>();
  for (const name of names) {
    const { group } = options[name];
    const heading = headings[group] ?? groups[group];
    sections.set(heading, [...(sections.get(heading) ?? []), name]);
  }
  return [...sections];
}

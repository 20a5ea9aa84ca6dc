import * as z from 'zod';
import { type OptionSpec, type Values, valuesOf } from '../../config/option.ts';
import {
  flagOf,
  generalOptions,
  type OptionName,
  optionNames,
  optionSpec,
  options,
} from '../../config/options.ts';
import { exitCodes } from '../../kernel/errors.ts';
import { exitCodesOf, type FailureKind, failureKinds } from '../../kernel/failure-kind.ts';
import { version } from '../../kernel/version.ts';
import { type JsonStream, jsonStreams } from '../../report/json-events.ts';
import type { CommandSpec } from '../command.ts';
import { allCommands, ownCommands, ownFlags } from '../commands.ts';
import { type ListSources, listValues } from '../value-lists.ts';

const names = z.array(z.string());
const lists = {
  values: names.optional().describe('Every value, if voicectl has a list of them'),
  valuesFrom: z
    .enum(['files', 'folders', 'profiles'])
    .optional()
    .describe(
      'Source of the values if `values` is missing: files, folders or profiles on the user’s machine',
    ),
};
const fields = z
  .record(z.string(), z.string())
  .describe('`type: meaning` by name; a name with `?` may be missing');

/** What `voicectl help --json` prints. */
export const helpSchema = z
  .object({
    version: z.string(),
    commands: z.array(
      z.object({
        name: z.string(),
        oldName: z.string().optional().describe('An earlier name, which still works'),
        usage: z.string(),
        summary: z.string(),
        arguments: z.array(z.object({ name: z.string(), help: z.string(), ...lists })),
        flags: names.describe(
          'Keys in `flags`, in the order of the help, except those with commands `every`',
        ),
        mostUsed: names.optional().describe('Flags that --help shows without --all'),
        examples: names,
      }),
    ),
    flags: z.record(
      z.string(),
      z.object({
        flag: z.string(),
        short: z.string().optional(),
        oldFlag: z.string().optional().describe('An earlier name, which still works'),
        argument: z.string().optional().describe('Missing for a switch'),
        argumentIsOptional: z.literal(true).optional(),
        opposite: z.string().optional().describe('The flag that turns it off'),
        commands: z.union([z.literal('every'), names]),
        group: z.string().describe('Topic under which the help lists it'),
        help: z.string(),
        default: z.string().optional().describe('As it would be written on the command line'),
        defaultText: z.string().optional().describe('The default in words, if it is not one value'),
        environment: z.string().optional(),
        configKey: z.string().optional().describe('Missing for a flag that a config file cannot set'),
        ...lists,
        repeatable: z.literal(true).optional(),
        secret: z.literal(true).optional().describe('Its value is never shown'),
        needs: names.optional().describe('Flags that it needs'),
        excludes: names.optional().describe('Flags that it cannot be combined with'),
        examples: names,
      }),
    ),
    exitCodes: z.array(z.object({ code: z.int(), meaning: z.string(), errors: names })),
    failures: z.array(z.object({ kind: z.string(), exitCodes: z.array(z.int()), meaning: z.string() })),
    output: z
      .array(
        z.object({
          commands: names,
          common: fields,
          events: z.array(z.object({ type: z.string(), says: z.string(), fields })),
        }),
      )
      .describe('The lines of --json'),
  })
  .describe('The command line of voicectl, as `voicectl help --json` prints it');

export type HelpObject = z.output<typeof helpSchema>;

export const exitCodeMeanings: Readonly<Record<number, string>> = {
  0: 'done, and every expectation held',
  1: 'an expectation failed',
  2: 'usage: a bad flag, config, input file or refused setting; port taken',
  3: 'authentication refused by the token endpoint or the stream',
  4: 'could not connect: DNS, refused, TLS, handshake',
  5: 'rate limited after the retries, or too many connections for the device',
  6: 'the stream broke: abnormal close, protocol violation, a redirect, a service error that ends the session',
  7: 'timed out',
  8: 'local input or output: no audio device, disk full, closed pipe',
  9: 'the measurement is not valid: the machine that measured was the limit, or a part of the run was lost',
  70: 'a bug in voicectl',
  129: 'hung up',
  130: 'interrupted',
  131: 'quit (SIGQUIT)',
  143: 'terminated',
};

/** The command line as one object. With the name of a command, only that one, or that group, and its flags. */
export async function describeProgram(
  sources: Omit<ListSources, 'config'>,
  only?: string,
): Promise<HelpObject> {
  const isAsked = ({ name }: { name: string }) =>
    only === undefined || name === only || name.startsWith(`${only} `);
  const specs = allCommands.map(({ spec }) => spec).filter(isAsked);
  const own = ownCommands
    .filter(isAsked)
    .map((one) => ({ ...one, options: describeOwnFlags(one.name).map(([key]) => key) }));
  const used = optionNames.filter(
    (name) => generalOptions.some((one) => one === name) || specs.some((spec) => spec.options.includes(name)),
  );
  const flags = await Promise.all(
    used.map(async (name) => [name, await describeFlag(name, sources)] as const),
  );
  return {
    version,
    commands: await Promise.all([...specs, ...own].map((spec) => describeCommand(spec, sources))),
    flags: Object.fromEntries([...flags, ...own.flatMap(({ name }) => describeOwnFlags(name))]),
    exitCodes: Object.entries(exitCodeMeanings).map(([code, meaning]) => ({
      code: Number(code),
      meaning,
      errors: Object.entries(exitCodes).flatMap(([error, exit]) => (exit === Number(code) ? [error] : [])),
    })),
    failures: Object.entries(failureKinds).map(([kind, meaning]) => ({
      kind,
      exitCodes: exitCodesOf(kind as FailureKind),
      meaning,
    })),
    output: jsonStreams.filter(isPrinted(specs)).map(({ commands, common, events }) => ({
      commands: [...commands],
      common: { ...common },
      events: events.map((event) => ({ ...event, fields: { ...event.fields } })),
    })),
  };
}

/** Whether one of the commands prints these lines. */
function isPrinted(specs: readonly CommandSpec[]) {
  return ({ commands }: JsonStream) =>
    commands.some(
      (name) => name === 'every command' || specs.some((spec) => name.split(' --')[0] === spec.name),
    );
}

type Described = Omit<CommandSpec, 'name' | 'options'> & {
  name: string;
  options: readonly string[];
  usage?: string;
};

/** The flags of a command without settings, by a key of their own. Those of every command are described there. */
function describeOwnFlags(command: string) {
  return ownFlags(command)
    .filter(([flag]) => !generalOptions.some((name) => flagOf(name) === flag))
    .map(([flag, help]) => {
      const ownExamples = ownCommands.flatMap(({ name, examples }) => (name === command ? examples : []));
      const examples = ownExamples.filter((line) => line.split(' ').includes(flag));
      return [`${command} ${flag}`, { flag, commands: [command], group: 'print', help, examples }] as const;
    });
}

async function describeCommand(spec: Described, sources: ListSources) {
  const { name, old, summary, args = [], mostUsed, examples } = spec;
  return {
    name,
    oldName: old,
    usage: spec.usage ?? ['voicectl', name, '[flags]', ...args.map(([arg]) => arg)].join(' '),
    summary,
    arguments: await Promise.all(
      args.map(async ([arg, help, values]) => ({
        name: arg,
        help,
        ...(await describeValues(values, sources)),
      })),
    ),
    flags: [...spec.options],
    mostUsed: mostUsed && [...mostUsed],
    examples: [...examples],
  };
}

async function describeFlag(name: OptionName, sources: ListSources) {
  const spec = optionSpec(name);
  const { commands, help, defaultText, env, flagOnly, repeatable, secret, negatable } = spec;
  const flag = flagOf(name);
  const [, argument] = /[<[]([^>\]]+)/.exec(spec.flag) ?? [];
  const [short] = /^-\w/.exec(spec.flag) ?? [];
  const [needs, excludes] = [spec.needs, spec.without].map((record) =>
    Object.keys(record ?? {}).flatMap((other) => otherFlag(spec, other as OptionName)),
  );
  return {
    flag,
    short,
    oldFlag: spec.old && `--${spec.old}`,
    argument,
    argumentIsOptional: spec.flag.includes('[') ? (true as const) : undefined,
    opposite: negatable && flag.replace('--', '--no-'),
    commands: commands === 'every' ? commands : [...commands],
    group: spec.group,
    help,
    default: spec.default,
    defaultText,
    environment: env,
    configKey: flagOnly ? undefined : name,
    ...(await describeValues(valuesOf(spec), sources)),
    repeatable,
    secret,
    needs: needs?.length ? needs : undefined,
    excludes: excludes?.length ? excludes : undefined,
    examples: examplesOf(flag, commands),
  };
}

/** The flag of another setting, where some command takes both. */
function otherFlag({ commands }: OptionSpec, other: OptionName): string[] {
  const takers = optionSpec(other).commands;
  const hasBoth = commands === 'every' || takers === 'every' || commands.some((one) => takers.includes(one));
  return other in options && hasBoth ? [flagOf(other)] : [];
}

/** At most two command lines with the flag. */
function examplesOf(flag: string, commands: OptionSpec['commands']): string[] {
  const lines = allCommands
    .filter(({ spec }) => commands === 'every' || commands.includes(spec.name))
    .flatMap(({ spec }) => spec.examples);
  return lines.filter((line) => line.split(/[ =]/).includes(flag)).slice(0, 2);
}

async function describeValues(values: Values | undefined, sources: ListSources) {
  if (values === undefined) return {};
  if (values === 'files' || values === 'folders' || values === 'profiles') return { valuesFrom: values };
  const listed = await listValues(values, sources);
  const isOwnToo = values === 'sounds' || values === 'scenarios';
  return {
    values: listed.map(({ value }) => value),
    ...(isOwnToo ? { valuesFrom: 'files' as const } : {}),
  };
}

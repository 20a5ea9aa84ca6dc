import { Command, CommanderError, Option } from 'commander';
import { flagOf, generalOptions, type OptionName, optionSpec, underHeadings } from '../config/options.ts';
import type { Flags } from '../config/settings.ts';
import { VoicectlError } from '../kernel/errors.ts';
import { jsonLine } from '../kernel/escape.ts';
import type { Io } from '../kernel/io.ts';
import { version } from '../kernel/version.ts';
import { type Command as CommandEntry, type CommandGroup, type CommandSpec, helpHint } from './command.ts';
import { allCommands, commands, headingOf, ownCommands, ownFlags } from './commands.ts';

/** Runs a command with its parsed flags and arguments. */
export type RunCommand = (
  command: CommandEntry,
  flags: Flags,
  args: readonly string[],
  /** The notice about an old name of the command. */
  renamed?: string,
) => Promise<number>;

/**
 * The command tree. The help goes to `write`. With `argv`, only commands that it names have their options: the others are
 * only listed.
 */
export function buildProgram(
  write: (text: string) => void,
  run: RunCommand,
  argv?: readonly string[],
): Command {
  const program = new Command('voicectl')
    .description('Local emulator, client and smoke test for real-time voice streaming services')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeOut: write, writeErr: () => {} })
    .addHelpText('after', '\nStart here:\n  voicectl stream --file hello.wav --local\n');
  const isBrief = argv !== undefined && !argv.includes('--all');
  const tree: Tree = {
    program,
    run,
    isNamed: (name) => argv === undefined || argv.includes(name),
    hasOld: argv !== undefined,
    isBrief,
  };
  for (const one of commands) {
    const command = 'subcommands' in one ? buildGroup(one, tree) : buildCommand(one, tree);
    program.addCommand(command.helpGroup(headingOf(command.name())));
  }
  const [completion, help] = ownCommands;
  program.addCommand(buildOwn(completion, program));
  program.addHelpCommand(buildOwn(help, program));
  return program;
}

interface Tree {
  program: Command;
  run: RunCommand;
  isNamed(command: string): boolean;
  /** Whether old names of flags are read. */
  hasOld: boolean;
  /** Whether help shows only the most used options. */
  isBrief: boolean;
}

/** Only described here: `cli.ts` and `runProgram` run it. */
function buildOwn({ name, summary, args }: (typeof ownCommands)[number], program: Command): Command {
  const command = program.createCommand(name).copyInheritedSettings(program).description(summary);
  for (const [arg, help] of args) command.argument(arg, help);
  return command.helpGroup(headingOf(name));
}

function buildGroup({ name, summary, own, subcommands }: CommandGroup, tree: Tree): Command {
  if (own !== undefined) {
    const command = buildCommand(own, tree);
    for (const one of subcommands) command.addCommand(buildCommand(one, tree));
    return command;
  }
  const names = subcommands.map(({ spec }) => ownName(spec));
  const group = tree.program
    .createCommand(name)
    .copyInheritedSettings(tree.program)
    .description(summary)
    .exitOverride((thrown) => {
      if (thrown.exitCode === 0) throw thrown;
      throw thrown.code === 'commander.help' ? missingCommand(name, names) : usageError(thrown, name);
    });
  for (const one of subcommands) group.addCommand(buildCommand(one, tree));
  return group;
}

/** The last word of the whole name. */
function ownName({ name }: CommandSpec): string {
  return name.split(' ').at(-1) ?? name;
}

function buildCommand(entry: CommandEntry, { program, run, isNamed, hasOld, isBrief }: Tree): Command {
  const { spec } = entry;
  const { name, args = [] } = spec;
  const command = program
    .createCommand(ownName(spec))
    .copyInheritedSettings(program)
    .exitOverride((thrown) => {
      throw thrown.exitCode === 0 ? thrown : usageError(thrown, name);
    })
    .description(spec.summary)
    .allowExcessArguments(false);
  for (const [arg, help] of args) command.argument(arg, help);
  if (spec.passThrough) command.passThroughOptions();
  if (isNamed(ownName(spec))) {
    addOptions(command, spec, hasOld);
    if (isBrief) hideSeldomUsed(command, spec);
  }
  // The list of commands says whether they have options.
  else addOption(command, 'quiet');
  command.addHelpOption(new Option('-h, --help', 'show this help'));
  command.addHelpText('after', `\nExamples:\n${spec.examples.map((line) => `  ${line}`).join('\n')}\n`);
  return command.action(async () => {
    exitCodes.set(program, await run(entry, command.opts(), command.args));
  });
}

function addOptions(command: Command, { options, headings }: CommandSpec, hasOld: boolean): void {
  for (const [heading, names] of underHeadings([...options, ...generalOptions], headings)) {
    command.optionsGroup(heading);
    for (const name of names) addOption(command, name);
  }
  const old = hasOld ? options.filter((name) => optionSpec(name).old !== undefined) : [];
  for (const name of old) command.addOption(buildOption(name, optionSpec(name).old).hideHelp());
}

const briefGeneral: readonly OptionName[] = ['json', 'quiet', 'verbose'];

/** Keeps the most used options in the help, and names the command that lists the others. All of them still work. */
function hideSeldomUsed(command: Command, { name, mostUsed }: CommandSpec): void {
  if (mostUsed === undefined) return;
  const shown = new Set([...mostUsed, ...briefGeneral].map((option) => flagOf(option)));
  const seldom = command.options.filter(({ long, hidden }) => !hidden && !shown.has(long ?? ''));
  for (const option of seldom) option.hideHelp();
  const all = `voicectl ${name} --help --all`;
  command.addHelpText('after', () => `\n${seldom.length} more flags: ${all}`);
}

function addOption(command: Command, name: OptionName): void {
  command.addOption(buildOption(name));
  if (optionSpec(name).negatable) command.addOption(buildOpposite(name));
}

const exitCodes = new WeakMap<Command, number>();

function buildOption(name: OptionName, old?: string): Option {
  const { help, env, default: fallback, defaultText, repeatable } = optionSpec(name);
  const notes = [defaultText ?? fallback]
    .filter((text) => text !== undefined)
    .map((text) => `default: ${text}`);
  if (env !== undefined) notes.push(`env: ${env}`);
  const flag =
    old === undefined ? optionSpec(name).flag : optionSpec(name).flag.replace(flagOf(name), `--${old}`);
  const option = new Option(flag, notes.length === 0 ? help : `${help} (${notes.join(', ')})`);
  return repeatable
    ? option.argParser((value, before: string[] | undefined) => [...(before ?? []), value])
    : option;
}

function buildOpposite(name: OptionName): Option {
  const { flag } = optionSpec(name);
  return new Option(flag.replace('--', '--no-'), `turn ${flag} off`);
}

/** The output of `voicectl` without arguments. */
const waysIn = `Local emulator, client and smoke test for real-time voice streaming services

I have a device:
  voicectl serve                       run an emulator for it to connect to; --host and --tls for a LAN
  voicectl drill -- ./my-device        test how it handles what a service can do; with a real one: proxy

I have tests:
  voicectl exec -- npm test            run them against their own emulator; in code: voicectl/testing
  voicectl stream --file hello.wav --local --expect-audio
                                       run a smoke test: stream speech and expect a reply

I run a service:
  voicectl check --base-url URL        check it against the specification; learn writes its dialect
  voicectl load --base-url URL --file hello.wav --sessions 20
                                       measure it with many devices at once

All commands: voicectl --help. The most used flags of one: voicectl COMMAND --help; all of them: --help --all.
`;

const helpOfHelp = `Usage: voicectl help [options] [command]

show the help of a command, or of the program

Options:
${ownFlags('help')
  .map(([flag, help]) => `  ${flag.padEnd(9)}${help}\n`)
  .join('')}`;

/** Parses the command line and runs the command. Throws `usage` if it is invalid. */
export async function runProgram(typed: readonly string[], io: Io, run: RunCommand): Promise<number> {
  const at = typed[0] === 'help' ? 1 : 0;
  const entry = allCommands.find(({ spec }) => spec.old !== undefined && spec.old === typed[at])?.spec;
  const argv = entry === undefined ? typed : typed.with(at, entry.name);
  if (at === 1 && typed.includes('--json')) return printHelpObject(argv, io);
  const renamed = entry && `${entry.old} is now called ${entry.name}`;
  let help = '';
  const write = (text: string) => {
    help += text;
  };
  const program = buildProgram(write, (command, flags, args) => run(command, flags, args, renamed), argv);
  const [name] = argv.slice(at).filter((word) => !word.startsWith('-'));
  const isAboutHelp = name === 'help' || (name === undefined && (argv[1] === '--help' || argv[1] === '-h'));
  if (argv.length === 0) help = waysIn;
  else if (at === 1 && isAboutHelp) help = helpOfHelp;
  try {
    const line = at === 1 && name !== undefined ? [...(await commandAsked(argv)), '--help'] : [...argv];
    if (help === '') await program.parseAsync(line, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.exitCode !== 0) throw at === 1 ? await unknownHelp(name) : usageError(thrown);
  }
  if (help !== '') await io.stdout.write(help);
  return exitCodes.get(program) ?? 0;
}

/** `help --json`, and `help COMMAND --json`. */
async function printHelpObject(argv: readonly string[], io: Io): Promise<number> {
  const { describeProgram } = await import('./help/describe-program.ts');
  const name = (await commandAsked(argv)).join(' ');
  await io.stdout.write(jsonLine(await describeProgram(io, name === '' ? undefined : name)));
  return 0;
}

/**
 * The words of the command, or of the group, whose help is asked for; empty for the program. Words that follow it may be
 * its arguments. Commander's own `help` reads one word only.
 */
async function commandAsked([, ...typed]: readonly string[]): Promise<string[]> {
  const words = typed.filter((word) => !word.startsWith('-'));
  const specs = [...allCommands.map(({ spec }) => spec), ...ownCommands];
  for (let count = words.length; count > 0; count -= 1) {
    const asked = words.slice(0, count);
    const spec = specs.find(({ name }) => name === asked.join(' '));
    const isGroup =
      spec === undefined && commands.some((one) => 'subcommands' in one && one.name === asked.join(' '));
    if (count === words.length && isGroup) return asked;
    if (spec !== undefined && (count === words.length || spec.args !== undefined)) return asked;
  }
  if (words.length > 0) throw await unknownHelp(words.join(' '));
  return [];
}

function missingCommand(group: string, names: readonly string[]): VoicectlError {
  return new VoicectlError('usage', `${group}: expected one of ${names.join(', ')}`, {
    hint: helpHint(group),
  });
}

/** The error for the help of a command that does not exist. */
async function unknownHelp(name = ''): Promise<VoicectlError> {
  const { didYouMean } = await import('../protocol/suggestion.ts');
  const known = allCommands.flatMap(({ spec }) => [spec.name, spec.name.split(' ')[0] ?? '']);
  const message = name === '' ? 'Name a command' : `There is no command ${name}${didYouMean(name, known)}`;
  return new VoicectlError('usage', message, { hint: helpHint() });
}

/** Names the commands that an option belongs to: `--mic is an option of stream. `; empty if there are none. */
function ownersText({ code, message }: CommanderError): string {
  const [, flag] = /'(--[\w-]+)/.exec(message) ?? [];
  if (code !== 'commander.unknownOption' || flag === undefined) return '';
  const owners = allCommands.flatMap(({ spec }) =>
    spec.options.some((name) => flagOf(name) === flag) ? [spec.name] : [],
  );
  const [first, ...others] = owners;
  if (first === undefined) return '';
  const more = others.length > 2 ? [...others.slice(0, 1), 'others'] : others;
  return `${flag} is an option of ${[first, ...more].join(', ').replace(/, (?=[^,]*$)/, ' and ')}. `;
}

/** The error for an invalid command line, with Commander's suggestion and the help of the command. */
function usageError(thrown: CommanderError, command?: string): VoicectlError {
  const [message = '', suggestion] = thrown.message.replace(/^error: /, '').split('\n');
  const meant = suggestion === undefined ? ownersText(thrown) : `${suggestion.replace(/^\(|\)$/g, '')} `;
  return new VoicectlError('usage', message, { hint: `${meant}${helpHint(command)}`, cause: thrown });
}

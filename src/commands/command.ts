import type { OptionName } from '../config/options.ts';
import type { ResolvedSettings } from '../config/settings.ts';
import type { Io } from '../kernel/io.ts';
import type { OutputStream } from '../kernel/output-stream.ts';
import type { OutputName } from '../report/output-form.ts';
import type { Style } from '../report/style.ts';

/** What a command works with: its settings, and the way to the world outside. */
export interface CommandContext<Names extends OptionName> extends ResolvedSettings<Names> {
  io: Io;
  /** Positional arguments. */
  args: readonly string[];
  /** Aborted with a `VoicectlError` when the user, the system or `--timeout` ends the command. */
  signal: AbortSignal;
  /** Takes the lines of the result: standard output, or with `--out -` standard error. */
  lines: OutputStream;
  json: boolean;
  /** How a command that can have a screen answers. */
  output: OutputName;
  /** Whether text may have colour. */
  colour: boolean;
  quiet: boolean;
  verbose: boolean;
  style: Style;
  /** A line on standard error, for people; not with `--quiet`. */
  note(text: string): Promise<void>;
  /** A warning on standard error, with `--quiet` too. */
  warn(text: string): Promise<void>;
}

/** What the command line has to know of a command. Light: it is loaded for every `--help`. */
export interface CommandSpec<Names extends OptionName = OptionName> {
  name: string;
  summary: string;
  /** Positional arguments, as Commander takes them, each with what it is. */
  args?: readonly (readonly [name: string, help: string])[];
  /** Whether the arguments may hold flags that are not ours. */
  passThrough?: true;
  /** In the order of the help: what is used most comes first. */
  options: readonly Names[];
  /** Headings of the help, each before the option that it is given for. */
  headings?: Readonly<Partial<Record<OptionName, string>>>;
  /** Shown below the help. */
  examples: readonly string[];
}

/** Keeps the names of the settings apart in the type of the spec. */
export function defineSpec<const Names extends OptionName>(spec: CommandSpec<Names>): CommandSpec<Names> {
  return spec;
}

/** What the `run` of a command with this spec is given. */
export type ContextOf<Spec> = Spec extends CommandSpec<infer Names> ? CommandContext<Names> : never;

/** Does what a command is for. The result is the exit code, 0 if none. */
export type Run<Names extends OptionName> = (context: CommandContext<Names>) => Promise<number | undefined>;

/** A spec, and where what it describes is loaded from when it is used. */
export interface Command {
  spec: CommandSpec;
  load(): Promise<Run<OptionName>>;
}

/** A command that only holds others. */
export interface CommandGroup {
  name: string;
  summary: string;
  subcommands: readonly Command[];
}

/** Joins a spec with its `run`, which must take the settings that the spec names. */
export function defineCommand<Names extends OptionName>(
  spec: CommandSpec<Names>,
  load: () => Promise<Run<Names>>,
): Command {
  return { spec, load } as unknown as Command;
}

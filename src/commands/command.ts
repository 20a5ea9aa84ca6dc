import type { CommandName, Group, Values } from '../config/option.ts';
import { type OptionName, type OptionOf, optionsOf, type Settings } from '../config/options.ts';
import type { ResolvedSettings } from '../config/settings.ts';
import type { Stdin } from '../files/read-text.ts';
import { VoicectlError } from '../kernel/errors.ts';
import type { Io } from '../kernel/io.ts';
import type { OutputStream } from '../kernel/output-stream.ts';
import type { OutputName } from '../report/output-form.ts';
import type { Style } from '../report/style.ts';
import type { DrawThread } from '../ui/draw-thread.ts';

/** The context of a command: its settings, input and output. */
export interface CommandContext<Names extends OptionName>
  extends Omit<ResolvedSettings<Names | 'config' | 'profile'>, 'renamed'>,
    Stdin {
  io: Io;
  /** Positional arguments. */
  args: readonly string[];
  /** Aborted with a `VoicectlError` when the user, the system or `--timeout` ends the command. */
  signal: AbortSignal;
  /** Where the lines of the result go: standard output, or standard error with `--out -`. */
  lines: OutputStream;
  json: boolean;
  /** The form of the output of a command that can have a screen. */
  output: OutputName;
  /** Draws the screen of a command that has one. */
  drawThread?: DrawThread | undefined;
  /** Whether text may have colours. */
  colour: boolean;
  quiet: boolean;
  verbose: boolean;
  style: Style;
  /** Whether a program of the user has our terminal: Ctrl-C there reaches both, and is for that program. */
  leaveCtrlC(isLeft: boolean): void;
  /** Sets what the command is waiting for, in words for `--timeout`: `the token`. */
  awaits(what: string | undefined): void;
  /** Prints the result: with `--json` the value as a line, otherwise the lines. */
  print(value: unknown, lines: readonly string[]): Promise<void>;
  /** Writes a line for people to standard error; not with `--quiet`. */
  note(text: string): Promise<void>;
  /** Writes a warning to standard error, even with `--quiet`. */
  warn(text: string): Promise<void>;
}

/** Describes a command to the command line. Keep it light: every `--help` loads it. */
export interface CommandSpec<Names extends OptionName = OptionName> {
  /** The whole name, such as `emulator fault`. */
  name: CommandName;
  /** An earlier name, which still works. */
  old?: string;
  summary: string;
  /** Positional arguments in Commander's form, each with a description, and its values. */
  args?: readonly (readonly [name: string, help: string, values?: Values])[];
  /** Whether the arguments may contain flags of another program. */
  passThrough?: true;
  /** Whether it fills the terminal with a screen, with these settings. Default: never. */
  hasScreen?(settings: Settings<Names>): boolean;
  /** The options whose rows name this command, in the order of the help. */
  options: readonly Names[];
  /** The options that `--help` shows; `--help --all` shows every one. By default it shows all. */
  mostUsed?: readonly Names[];
  /** Headings of groups of options that have another name here. */
  headings?: Readonly<Partial<Record<Group, string>>>;
  /** Shown below the help. */
  examples: readonly string[];
}

export type ContextOf<Name extends CommandName> = CommandContext<OptionOf<Name>>;

/** Runs a command. Returns the exit code, by default 0. */
export type Run<Names extends OptionName> = (context: CommandContext<Names>) => Promise<number | undefined>;

export interface Command {
  spec: CommandSpec;
  load(): Promise<Run<OptionName>>;
}

export interface CommandGroup {
  name: string;
  summary: string;
  /** The command for the name alone. */
  own?: Command;
  subcommands: readonly Command[];
}

type Definition<Name extends CommandName> = Omit<CommandSpec<OptionOf<Name>>, 'name' | 'options'> & {
  name: Name;
  /** Loads the `run` of the command, which takes the settings of the spec. */
  load(): Promise<Run<OptionOf<Name>>>;
};

/** A command with the options whose rows name it. */
export function defineCommand<const Name extends CommandName>({ load, ...spec }: Definition<Name>): Command {
  return { spec: { ...spec, options: optionsOf(spec.name) }, load } as unknown as Command;
}

/** Names the help of the used command, or of the program. */
export function helpHint(command?: string): string {
  return `See ${['voicectl', command].filter(Boolean).join(' ')} --help.`;
}

/** Gives a `usage` error the help of its command as a hint, unless it has a hint, or a cause that no help explains. */
export function withHelpHint(thrown: unknown, command: string): unknown {
  if (!(thrown instanceof VoicectlError) || thrown.code !== 'usage') return thrown;
  const { code, message, hint, cause, details } = thrown;
  if (hint !== undefined || cause !== undefined) return thrown;
  return new VoicectlError(code, message, { hint: helpHint(command), details });
}

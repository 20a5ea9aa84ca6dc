import type { Parse } from '../parse.ts';

/** One setting: its flag, where else it may come from, how it is read, and what it does. */
export interface OptionSpec<T> {
  /** As Commander takes it: `--name <VALUE>`, `--name [VALUE]`, or `--name` for a switch. */
  flag: string;
  help: string;
  /** The name under which Commander keeps it, where that is not the name of the setting. */
  key?: string;
  parse: Parse<T>;
  env?: string;
  /** As it would be written on the command line. */
  default?: string;
  /** Shown as the default if that is not a value. */
  defaultText?: string;
  /** Given several times, the values add up. */
  repeatable?: true;
  /** What `--name` alone means, where the value is optional. */
  preset?: string;
  /** A switch with an opposite, `--no-NAME`. */
  negatable?: true;
  /** Never read from a config file: it makes sense for one command only. */
  flagOnly?: true;
}

/** Keeps the type of each setting's value in the table. */
export const define = <const S extends OptionSpec<unknown>>(spec: S) => spec;

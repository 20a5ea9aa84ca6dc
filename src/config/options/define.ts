import type { Parse } from '../parse.ts';

/** One setting: its flag, its other sources, how it is parsed, and its help. */
export interface OptionSpec<T> {
  /** In Commander's form: `--name <VALUE>`, `--name [VALUE]`, or `--name` for a switch. */
  flag: string;
  help: string;
  /** Commander's name for it, if that is not the name of the setting. */
  key?: string;
  parse: Parse<T>;
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
}

/** Keeps the type of each setting's value in the table. */
export const define = <const S extends OptionSpec<unknown>>(spec: S) => spec;

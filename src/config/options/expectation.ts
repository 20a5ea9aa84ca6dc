import { type AudioLimitName, audioLimitNames, audioLimits, refuseLimit } from '../../kernel/audio-limits.ts';
import { define, type OptionSpec, results } from '../option.ts';
import { parseChoice, parseDuration, parseInteger, parseText } from '../parse.ts';

/** The setting of a limit: `max-gap` is `maxGap`, and `--max-gap`. */
type SettingName<Name extends string> = Name extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<SettingName<Rest>>}`
  : Name;

export function limitSetting<Name extends AudioLimitName>(name: Name): SettingName<Name> {
  return name.replace(/-(.)/g, (_dash, letter: string) => letter.toUpperCase()) as SettingName<Name>;
}

/** A setting for each limit on the AI audio. */
const limitSettings = Object.fromEntries(
  audioLimitNames.map((name) => {
    const limit: { help: string; mayBeAny?: true } = audioLimits[name];
    const { help, mayBeAny } = limit;
    return [
      limitSetting(name),
      define({
        flag: mayBeAny ? `--${name} [DURATION]` : `--${name} <DURATION>`,
        commands: ['stream'],
        group: 'expectations',
        parse: (text) => {
          const ms = parseDuration(text);
          const refused = refuseLimit(name, ms);
          if (refused !== undefined) throw new Error(refused);
          return ms;
        },
        ...(mayBeAny ? { preset: '0' } : {}),
        help,
      }),
    ];
  }),
) as unknown as {
  [Name in AudioLimitName as SettingName<Name>]: OptionSpec<number> & {
    commands: readonly ['stream'];
    group: 'expectations';
    default?: never;
    repeatable?: never;
  };
};

/** Expectations. */
export const expectationSettings = {
  ...limitSettings,
  expectClean: define({
    commands: ['stream', 'load'],
    group: 'expectations',
    flag: '--expect-clean [HOW]',
    preset: 'findings',
    parse: parseChoice(['findings', 'strict']),
    help: 'fail on findings in the AI audio; strict: on remarks too',
  }),
  expectEvent: define({
    commands: ['stream'],
    group: 'expectations',
    flag: '--expect-event <KIND>',
    parse: parseText,
    repeatable: true,
    help: 'fail without a service message of this kind (repeatable)',
  }),
  forbidEvent: define({
    commands: ['stream'],
    group: 'expectations',
    flag: '--forbid-event <KIND>',
    parse: parseText,
    repeatable: true,
    help: 'fail on a service message of this kind (repeatable)',
  }),
  expectClose: define({
    commands: ['stream'],
    group: 'expectations',
    flag: '--expect-close <CODE>',
    parse: parseInteger(1000, 4999),
    help: 'fail unless the stream closes with this code',
  }),
  repeat: define({
    commands: ['stream'],
    group: 'expectations',
    flag: '--repeat <N>',
    default: '1',
    parse: parseInteger(1, 10_000),
    help: 'run this many sessions one after another, and show the spread of the figures',
  }),
  warmup: define({
    commands: ['stream'],
    group: 'expectations',
    flag: '--warmup <N>',
    default: '0',
    parse: parseInteger(0, 1_000),
    help: 'number of warm-up sessions to run first; they do not count',
  }),
  junit: define({
    commands: ['stream', 'check', 'drill', 'compare', ...results],
    group: 'files',
    flag: '--junit <FILE>',
    path: 'written',
    parse: parseText,
    flagOnly: true,
    help: 'write the verdicts as JUnit XML, for pipelines',
  }),
};

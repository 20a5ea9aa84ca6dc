import { type AudioLimitName, audioLimitNames, audioLimits, refuseLimit } from '../../kernel/audio-limits.ts';
import { camelCase, loadResultCommands, section } from '../option.ts';
import { type Parse, parseChoice, parseDuration, parseInteger } from '../parse.ts';

/** The setting of a limit: `max-gap` is `maxGap`, and `--max-gap`. */
type SettingName<Name extends string> = Name extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<SettingName<Rest>>}`
  : Name;

export function limitSetting<Name extends AudioLimitName>(name: Name): SettingName<Name> {
  return camelCase(name) as SettingName<Name>;
}

/** A row for each limit on the AI audio. */
const limitRows = Object.fromEntries(
  audioLimitNames.map((name) => {
    const { help, mayBeAny }: { help: string; mayBeAny?: true } = audioLimits[name];
    const parse: Parse<number> = (text) => {
      const ms = parseDuration(text);
      const refused = refuseLimit(name, ms);
      if (refused !== undefined) throw new Error(refused);
      return ms;
    };
    return [
      limitSetting(name),
      mayBeAny
        ? { flag: `--${name} [DURATION]`, parse, preset: '0', help }
        : { flag: `--${name} <DURATION>`, parse, help },
    ];
  }),
) as { [Name in AudioLimitName as SettingName<Name>]: { flag: string; parse: Parse<number>; help: string } };

export const expectationSettings = {
  ...section(['stream'], 'expectations', limitRows),
  ...section(['stream', 'load'], 'expectations', {
    expectClean: {
      flag: '--expect-clean [HOW]',
      preset: 'findings',
      parse: parseChoice(['findings', 'strict']),
      help: 'fail on findings in the AI audio; strict: also on remarks',
    },
  }),
  ...section(['stream'], 'expectations', {
    expectEvent: {
      flag: '--expect-event <KIND>',
      repeatable: true,
      help: 'fail if no service message of this kind arrives (repeatable)',
    },
    forbidEvent: {
      flag: '--forbid-event <KIND>',
      repeatable: true,
      help: 'fail if a service message of this kind arrives (repeatable)',
    },
    expectClose: {
      flag: '--expect-close <CODE>',
      parse: parseInteger(1000, 4999),
      help: 'fail unless the stream closes with this code',
    },
    repeat: {
      flag: '--repeat <N>',
      default: '1',
      parse: parseInteger(1, 10_000),
      help: 'run this many sessions one after another, and show the spread of the figures',
    },
    warmup: {
      flag: '--warmup <N>',
      default: '0',
      parse: parseInteger(0, 1_000),
      help: 'number of warm-up sessions to run first; they do not count',
    },
  }),
  ...section(['stream', 'check', 'drill', 'compare', ...loadResultCommands], 'files', {
    junit: {
      flag: '--junit <FILE>',
      path: 'written',
      flagOnly: true,
      help: 'write the verdicts as JUnit XML, for pipelines',
    },
  }),
};

import { describe, expect, test } from 'vitest';
import { allCommands } from '../../src/commands/commands.ts';
import { buildProgram } from '../../src/commands/program.ts';
import type { Group } from '../../src/config/option.ts';
import { flagOf, optionSpec } from '../../src/config/options.ts';

async function helpOf(...words: string[]): Promise<string> {
  let text = '';
  const program = buildProgram(
    (part) => {
      text += part;
    },
    async () => 0,
  );
  await program.parseAsync([...words, '--help'], { from: 'user' }).catch(() => {});
  return text;
}

/** The help that a user sees who types this. */
async function typed(...words: string[]): Promise<string> {
  let text = '';
  const program = buildProgram(
    (part) => {
      text += part;
    },
    async () => 0,
    words,
  );
  await program.parseAsync(words, { from: 'user' }).catch(() => {});
  return text;
}

async function refusalOf(...words: string[]) {
  const program = buildProgram(
    () => {},
    async () => 0,
  );
  return program.parseAsync(words, { from: 'user' }).then(
    () => undefined,
    (thrown) => thrown,
  );
}

describe('the help', () => {
  test.each([
    [
      'stream',
      ['What to stream:', 'Service:', 'Emulator for --local:', 'What must happen:'],
      '--file <PATH>',
    ],
    ['serve', ['What the service does:', 'Who may connect:', 'Where it listens:'], '--reply <MODE>'],
  ])('of %s is grouped under headings, the most used first', async (name, headings, first) => {
    const lines = (await helpOf(name)).split('\n');
    expect(lines.filter((line) => headings.includes(line))).toEqual(headings);
    expect(lines[lines.indexOf(headings[0] ?? '') + 1]).toContain(first);
    const general = lines.indexOf('General:');
    expect(lines.indexOf('Examples:')).toBeGreaterThan(general);
    expect(lines.slice(general).join('\n')).toContain('-h, --help');
    expect(lines).not.toContain('Options:');
  });

  test('of the program lists every command under a heading', async () => {
    const lines = (await helpOf()).split('\n');
    const names = [
      ...new Set([...allCommands.map(({ spec: { name } }) => name.split(' ')[0] ?? ''), 'completion']),
    ];
    for (const name of names) expect(lines.filter((line) => line.startsWith(`  ${name} `))).toHaveLength(1);
    expect(lines.indexOf('An emulator of the service:')).toBeLessThan(
      lines.indexOf('A client of the service:'),
    );
    expect(lines).not.toContain('Commands:');
  });

  const specs = allCommands.map(({ spec }) => [spec.name, spec] as const);

  test.each(specs)('of %s has each option once, and no empty heading', async (name, spec) => {
    const text = await helpOf(...name.split(' '));
    for (const option of spec.options) {
      const shown = text.match(new RegExp(`^ {2}(-\\w, )?${flagOf(option)}(?![\\w-])`, 'gm')) ?? [];
      expect([option, shown.length]).toEqual([option, 1]);
    }
    const groups = new Set(spec.options.map((option) => optionSpec(option).group));
    expect(Object.keys(spec.headings ?? {}).filter((group) => !groups.has(group as Group))).toEqual([]);
  });
});

describe('the help of a command with many flags', () => {
  const flags = (text: string) => [...text.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag);
  const long = allCommands.map(({ spec }) => spec).filter(({ mostUsed }) => mostUsed !== undefined);
  expect(long.map(({ name }) => name)).toContain('stream');

  test.each(long)('of $name has the most used ones, and the number of the others', async (spec) => {
    const brief = await typed(spec.name, '--help');
    const whole = flags(await typed(spec.name, '--help', '--all'));
    expect(flags(brief)).toEqual(expect.arrayContaining((spec.mostUsed ?? []).map(flagOf)));
    expect(flags(brief).length).toBeLessThanOrEqual(20);
    expect(whole).toEqual(expect.arrayContaining(spec.options.map(flagOf)));
    const more = whole.filter((flag) => !flags(brief).includes(flag)).length;
    expect(brief).toContain(`\n${more} more flags: voicectl ${spec.name} --help --all\n`);
  });

  test('of help COMMAND --all has every flag too', async () => {
    expect(flags(await typed('help', 'stream', '--all'))).toContain('--max-frame-buffer');
    expect(flags(await typed('help', 'stream'))).not.toContain('--max-frame-buffer');
  });
});

describe('what cannot be read', () => {
  test.each([
    ['an unknown flag', ['stream', '--fil', 'a.wav'], 'Did you mean --file? See voicectl stream --help.'],
    ['a flag of nothing alike', ['token', '--zzzzzz'], 'See voicectl token --help.'],
    ['an argument that is missing', ['emulator', 'speak'], 'See voicectl emulator speak --help.'],
    ['a subcommand that is missing', ['emulator'], 'See voicectl emulator --help.'],
    [
      'a subcommand that is misspelt',
      ['emulator', 'stat'],
      'Did you mean state? See voicectl emulator --help.',
    ],
  ])('%s is refused and names the help of its command', async (_what, words, hint) => {
    expect(await refusalOf(...words)).toMatchObject({ code: 'usage', hint });
  });
});

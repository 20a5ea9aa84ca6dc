import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { schemas } from '../../../docs/schemas.ts';
import { allCommands } from '../../../src/commands/commands.ts';
import { exitCodeMeanings, type HelpObject } from '../../../src/commands/help/describe-program.ts';
import { optionNames, optionSpec } from '../../../src/config/options.ts';
import { exitCodes } from '../../../src/kernel/errors.ts';
import { failureKinds } from '../../../src/kernel/failure-kind.ts';
import { everyEmulatorEvent, everySessionEvent } from '../../helpers/every-event.ts';
import { runInProcess } from '../../helpers/in-process.ts';
import { jsonLines, setUpSandbox } from '../../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const root = join(import.meta.dirname, '..', '..', '..');
const page = readFileSync(join(root, 'docs', 'CLI.md'), 'utf8');

async function help(...words: string[]): Promise<HelpObject> {
  const { code, stdout, stderr } = await runInProcess(['help', ...words, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as HelpObject;
}

describe('help --json', () => {
  test('has every command, flag, exit code, error and failure kind', async () => {
    const { commands, flags, exitCodes: codes, failures } = await help();
    expect(commands.map(({ name }) => name)).toEqual([
      ...allCommands.map(({ spec }) => spec.name),
      'completion',
      'help',
    ]);
    expect(Object.keys(flags).toSorted()).toEqual([...optionNames, 'help --all'].toSorted());
    expect(codes.flatMap(({ errors }) => errors).toSorted()).toEqual(Object.keys(exitCodes).toSorted());
    expect(failures.map(({ kind }) => kind)).toEqual(Object.keys(failureKinds));
  });

  const validate = new Ajv2020({ strict: false }).compile(schemas['help.schema.json'] ?? {});

  test('matches its published schema', async () => {
    validate(await help());
    expect(validate.errors).toBeNull();
    expect(validate({ version: '1' })).toBe(false);
  });

  test.each(allCommands.map(({ spec }) => spec.name))(
    'of %s matches the schema and has what --help --all shows',
    async (name) => {
      const words = name.split(' ');
      const found = await help(...words);
      validate(found);
      expect(validate.errors).toBeNull();
      const { stdout, code } = await runInProcess([...words, '--help', '--all']);
      expect(code).toBe(0);
      const shown = stdout.replaceAll(/\s+/g, ' ');
      const own = found.commands.find((command) => command.name === name)?.flags ?? [];
      const listed = Object.entries(found.flags).filter(
        ([key, { commands }]) => commands === 'every' || own.includes(key),
      );
      for (const [, flag] of listed) {
        expect(shown).toContain(flag.help);
        for (const text of [flag.environment, flag.default, flag.defaultText])
          if (text !== undefined) expect(shown).toContain(text);
      }
      const inText = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag);
      const inJson = listed.flatMap(([, { flag, opposite }]) => [
        flag,
        ...(opposite === undefined ? [] : [opposite]),
      ]);
      expect(inText.filter((flag) => !inJson.includes(flag ?? ''))).toEqual(['--help']);
      expect(
        listed
          .map(([, { flag, opposite }]) =>
            opposite !== undefined && inText.includes(opposite) ? opposite : flag,
          )
          .filter((flag) => !inText.includes(flag)),
      ).toEqual([]);
    },
  );

  test('has for a flag its values, its other sources and examples', async () => {
    const { flags } = await help();
    expect(flags.baseUrl).toMatchObject({
      flag: '--base-url',
      argument: 'URL',
      environment: 'VOICECTL_BASE_URL',
      configKey: 'baseUrl',
      default: 'http://127.0.0.1:8787',
      examples: [expect.stringContaining('--base-url https://'), expect.any(String)],
    });
    expect(flags.level).toMatchObject({ values: ['quick', 'standard', 'full'], default: 'quick' });
    expect(flags.fault).toMatchObject({ repeatable: true, values: expect.arrayContaining(['token-slow']) });
    expect(flags.file).toMatchObject({
      values: expect.arrayContaining(['hello.wav']),
      valuesFrom: 'files',
    });
    expect(flags.quiet).toMatchObject({ flag: '--quiet', short: '-q', commands: 'every' });
    expect(flags.page).toMatchObject({ opposite: '--no-page' });
    expect(flags.apiKey).toMatchObject({ secret: true });
    expect(flags.cert).toMatchObject({ needs: ['--tls-key'] });
    expect(flags.tlsKey).toMatchObject({ oldFlag: '--key' });
    expect(flags.dryRun).not.toHaveProperty('configKey');
    expect(flags.expectAudio).toMatchObject({ argument: 'DURATION', argumentIsOptional: true });
  });

  test('of one command, or of a group: only those and their flags', async () => {
    const { commands, flags } = await help('token');
    expect(commands.map(({ name }) => name)).toEqual(['token']);
    expect(Object.keys(flags)).toContain('decode');
    expect(Object.keys(flags)).toContain('json');
    expect(Object.keys(flags)).not.toContain('mic');
    const printed = async (name: string) => (await help(name)).output.flatMap(({ commands: by }) => by);
    expect(await printed('token')).toEqual(['every command']);
    expect(await printed('stream')).toContain('stream --repeat');
    expect(await printed('stream')).not.toContain('serve');
    expect((await help('emulator')).commands.length).toBeGreaterThan(5);
    expect((await help('load', 'merge')).commands.map(({ name }) => name)).toEqual(['load merge']);
    const { code, stderr } = await runInProcess(['help', 'strem', '--json']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('did you mean stream') });
  });

  test.each([
    ['completion', 'voicectl completion <shell>', { name: '<shell>', values: ['bash', 'zsh', 'fish'] }, []],
    ['help', 'voicectl help [--all] [--json] [command]', { name: '[command]' }, ['help --all']],
  ])('of %s has how it is used', async (name, usage, argument, flags) => {
    expect((await help(name)).commands).toMatchObject([{ name, usage, flags, arguments: [argument] }]);
  });

  test('exit codes match the README', () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    const table = /## Exit codes\n(.*?)\n## /s.exec(readme)?.[1] ?? '';
    const rows = [...table.matchAll(/^\| ([\d, ]+) \| (.+) \|$/gm)];
    const listed = rows.flatMap(([, codes = '']) => codes.split(', ').map(Number));
    expect(listed).toEqual(Object.keys(exitCodeMeanings).map(Number));
    for (const [, code = '', meaning = ''] of rows.filter(([, codes = '']) => !codes.includes(',')))
      expect(meaning.replace(' (`load`)', '')).toBe(exitCodeMeanings[Number(code)]);
  });
});

describe('the lines of --json', () => {
  /** Fields of a line that the help does not describe, or that it requires and that are missing. */
  async function undescribed(command: string, lines: readonly Record<string, unknown>[]): Promise<string[]> {
    const { output } = await help();
    const own = output.filter(
      ({ commands }) => commands.includes(command) || commands.includes('every command'),
    );
    return lines.flatMap(({ type, ...body }) => {
      const known = own.flatMap(({ common, events }) =>
        events.filter((event) => event.type === type).map(({ fields }) => ({ ...common, ...fields })),
      );
      if (known.length === 0) return [`${command}: no ${type}`];
      const problems = known.map((fields) => [
        ...Object.keys(body).filter((name) => !(name in fields) && !(`${name}?` in fields)),
        ...Object.keys(fields)
          .filter((name) => !name.endsWith('?') && !(name in body))
          .map((name) => `no ${name}`),
      ]);
      const fewest = problems.toSorted((a, b) => a.length - b.length)[0] ?? [];
      return fewest.map((problem) => `${command} ${type}: ${problem}`);
    });
  }

  test('of every event are described', async () => {
    const without = (lines: string[]) =>
      lines.filter((line) => !/no (version|pace|findings|remarks)/.test(line));
    const emulator = everyEmulatorEvent.map(({ event }) => event as unknown as Record<string, unknown>);
    expect(without(await undescribed('serve', emulator))).toEqual([]);
    const { output } = await help();
    const session = output
      .find(({ commands }) => commands.includes('stream'))
      ?.events.map(({ type }) => type);
    expect(session).toEqual(everySessionEvent.map(({ type }) => type));
  });

  test.each([
    ['stream', ['stream', '--file', 'hello.wav', '--local', '--expect-audio']],
    ['stream --repeat', ['stream', '--file', 'hello.wav', '--local', '--repeat', '2']],
    [
      'stream --interactive',
      ['stream', '--interactive', '--local'],
      'hi\n:binary 00\n:ping\n:fold on\n:binary 00\n:close\n',
    ],
    ['check', ['check', '--local', '--rule', 'R1']],
    ['check', ['check', '--local', '--dry-run']],
    ['drill', ['drill', '--list']],
    ['drill', ['drill', '--situation', 'D1', '--port', '0', '--', 'true']],
    ['stream', ['stream', '--file', 'missing.wav', '--local']],
  ])('of %s are described completely (%j)', async (command, args, input = '') => {
    const { stdout } = await sandbox.runHere([args[0] ?? '', '--json', ...args.slice(1)], { input });
    const own = command === 'stream --repeat' ? ['run', 'summary'] : undefined;
    const lines = jsonLines(stdout).filter(({ type }) => own === undefined || own.includes(String(type)));
    expect(lines.length).toBeGreaterThan(0);
    expect(await undescribed(command, lines)).toEqual([]);
  });

  test('of load are described completely', async () => {
    const { baseUrl } = await sandbox.serveHere();
    const { code, stdout } = await sandbox.runHere([
      ...[
        'load',
        '--sessions',
        '2',
        '--task',
        'tokens',
        '--arrival',
        'burst:2',
        '--json',
        '--processes',
        'none',
      ],
      ...['--base-url', baseUrl],
    ]);
    expect([0, 9]).toContain(code);
    expect(await undescribed('load', jsonLines(stdout))).toEqual([]);
  });
});

describe('docs/CLI.md', () => {
  test('has each flag, its variable and its default, and each command', () => {
    for (const name of optionNames) {
      const { flag, env, default: fallback } = optionSpec(name);
      const long = /--[\w-]+/.exec(flag)?.[0];
      const rows = page.split('\n').filter((line) => line.startsWith('|') && line.includes(`\`${long}`));
      const isTold = rows.some((row) =>
        [env, fallback].every((text) => text === undefined || row.includes(`\`${text}\``)),
      );
      expect({ name, isTold }).toEqual({ name, isTold: true });
    }
    for (const { spec } of allCommands) expect(page).toContain(`### \`voicectl ${spec.name}`);
  });

  test('has each of them once, and is short', () => {
    const rows = [...page.matchAll(/^\| (?:`-\w`, )?`(--[^`]+)`/gm)].map(([row]) => row);
    expect(rows.length).toBe(optionNames.length);
    expect(Buffer.byteLength(page)).toBeLessThanOrEqual(30_000);
  });
});

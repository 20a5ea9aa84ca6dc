import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import * as z from 'zod';
import { describeProgram, type HelpObject } from '../src/commands/help/describe-program.ts';
import { describeTools } from '../src/commands/mcp/run.ts';
import { ruleOf, situations } from '../src/conformance/drill/catalogue.ts';
import { settings as learnSettings } from '../src/conformance/learn/infer.ts';
import { stepsFor } from '../src/conformance/needed.ts';
import { backends } from '../src/devices/backend.ts';
import { audioLimitNames, audioLimits } from '../src/kernel/audio-limits.ts';
import { controlOperations, controlPrefix } from '../src/protocol/control.ts';
import { dialectSchema } from '../src/protocol/dialect.ts';
import { describeCatalogue } from '../src/protocol/fault-schema.ts';
import { faultPoints } from '../src/protocol/faults.ts';
import { type NetworkQuality, networkProfiles } from '../src/protocol/network.ts';
import { serviceRules } from '../src/rules/catalogue.ts';
import { bindings } from '../src/ui/keys.ts';

const described: HelpObject = await describeProgram({ cwd: import.meta.dirname, env: {} });

const allFlags = Object.values(described.flags);

/** Flags that several commands take: the title of their table, and its groups. */
const sharedGroups: readonly (readonly [title: string, ...groups: string[]])[] = [
  ['Source', 'source', 'pace'],
  ['Service', 'service'],
  ['Proxy', 'target'],
  ['Questions', 'asked', 'print'],
  ['Limits', 'expectations', 'verdicts'],
  ['Emulator', 'emulator'],
  ['Streams', 'streams'],
  ['Access', 'access'],
  ['Listening', 'listen'],
  ['TLS', 'tls'],
  ['Cluster', 'shared'],
  ['Sound', 'sound'],
  ['Metrics', 'metrics'],
  ['Reports', 'files', 'screen'],
];

/** The parts of the pages that are generated from the code, by the name of their marker. */
export const references: Record<string, string> = {
  commands: commandSections(),
  shared: sharedGroups
    .map(([title, ...groups]) => `### ${title}\n\n${flagTable(sharedFlags(groups))}`)
    .join('\n\n'),
  failures: table(
    ['kind', 'exit code', 'meaning'],
    described.failures.map(({ kind, exitCodes, meaning }) => [code(kind), exitCodes.join(', '), meaning]),
  ),
  mcp: table(
    ['tool', 'what it does'],
    describeTools().map(({ name, description }) => [code(name), description]),
  ),
  limits: table(
    ['flag, and key of a conversation file', 'fails as', 'meaning'],
    audioLimitNames.map((name) => {
      const { kind, help } = audioLimits[name];
      const duration = 'mayBeAny' in audioLimits[name] ? '[D]' : 'D';
      return [`\`--${name} ${duration}\``, `\`${kind}\``, help];
    }),
  ),
  general: flagTable(allFlags.filter(({ commands }) => commands === 'every')),
  keys: table(
    ['key', 'screens', 'what it does'],
    bindings.flatMap(({ keys, shown = keys.join(' '), help }) => {
      const screensOf = typeof help === 'string' ? { [help]: ['all'] } : invert(help);
      return Object.entries(screensOf).map(([text, screens]) => [`\`${shown}\``, screens.join(', '), text]);
    }),
  ),
  control: table(
    ['operation', 'what it does'],
    Object.values(controlOperations).map(({ method, path, summary }) => [
      `\`${method} ${controlPrefix}${path}\``,
      summary,
    ]),
  ),
  faults: Object.entries(faultPoints)
    .map(([point, chance]) => `Strike ${chance}:\n\n${faultTable(point)}`)
    .join('\n\n'),
  networks: table(
    ['network', 'latency', 'jitter', 'loss', 'to the device', 'from the device'],
    Object.entries(networkProfiles).map(([name, quality]) => networkRow(name, quality)),
  ),
  dialect: dialectSections(z.toJSONSchema(dialectSchema, { io: 'input' }) as Schema),
  rules: table(
    ['rule', 'the specification says', 'section', 'exchanges'],
    serviceRules.map(({ id, says, section }) => [id, says, section, stepsFor(id).join(' ')]),
  ),
  drill: table(
    ['situation', 'what happens', 'rule', 'the specification says'],
    situations.map(({ id, title, tls }) => {
      const rule = ruleOf(id);
      return [
        `\`${id}\``,
        tls === undefined ? title : `${title} (with \`--tls\`)`,
        `${rule.id} ${rule.title}`,
        rule.says,
      ];
    }),
  ),
  learn: table(['setting', 'exchanges', 'how it is found'], learnRows()),
  scenarios: table(['name', 'what happens'], shippedScenarios()),
  backends: table(
    ['name', 'platforms', 'needs'],
    backends.map(({ name, hosts, install }) => [`\`${name}\``, hosts.join(', '), install]),
  ),
};

function networkRow(name: string, { latency, jitter, loss, rate, upload }: NetworkQuality): string[] {
  const ms = (value: number) => (value === 0 ? '' : `${value} ms`);
  const share = loss === 0 ? '' : `${loss * 100} %`;
  return [`\`${name}\``, ms(latency), ms(jitter), share, rateText(rate), rateText(upload)];
}

function rateText(bits: number | undefined): string {
  if (bits === undefined) return '';
  if (bits === 0) return 'nothing';
  return bits < 1_000_000 ? `${bits / 1_000} kbit/s` : `${bits / 1_000_000} Mbit/s`;
}

/** Settings that one exchange reveals together are one row. */
function learnRows(): string[][] {
  const rows = new Map<string, { paths: string[]; steps: string; how: string }>();
  for (const { path, steps, how } of learnSettings) {
    const parent = path.slice(0, path.lastIndexOf('.'));
    const isTogether = parent.split('.').length > 1 && !/^stream\.(status|error|connected)$/.test(parent);
    const key = isTogether ? `${parent} ${steps}` : path;
    const row = rows.get(key) ?? { paths: [], steps: steps.join(' '), how };
    row.paths.push(path);
    rows.set(key, row);
  }
  return [...rows.values()].map(({ paths, steps, how }) => [pathsText(paths), steps, how]);
}

/** `a.b` and `a.c` as `a.{b,c}`. */
function pathsText(paths: readonly string[]): string {
  const [first = ''] = paths;
  if (paths.length === 1) return `\`${first}\``;
  const parent = first.slice(0, first.lastIndexOf('.') + 1);
  return `\`${parent}{${paths.map((path) => path.slice(parent.length)).join(',')}}\``;
}

function faultTable(point: string): string {
  const rows = describeCatalogue()
    .filter(({ at }) => at === point)
    .map(({ name, summary, parameters }) => [
      `\`${name}\``,
      sentence(summary),
      parameters.map(({ name: key, default: fallback }) => `\`${key}=${fallback}\``).join(', '),
    ]);
  return table(['fault', 'what happens', 'parameters'], rows);
}

/** The names of the generated parts that a page has a place for. */
export function placesIn(page: string): string[] {
  return [...page.matchAll(/^<!-- generated: (\w+) -->$/gm)].map(([, name = '']) => name);
}

/** The page with each generated part between its markers. Throws if a marker has no end or no content. */
export function withReferences(page: string): string {
  return placesIn(page).reduce((text, name) => {
    const [open, close] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`];
    const [start, end] = [text.indexOf(open), text.indexOf(close)];
    const content = references[name];
    if (content === undefined || end < start) throw new Error(`There is no content or no end for ${name}`);
    return `${text.slice(0, start + open.length)}\n\n${content}\n\n${text.slice(end)}`;
  }, page);
}

/** Name and description of each included scenario. */
function shippedScenarios(): string[][] {
  const folder = new URL('../examples/scenarios/', import.meta.url);
  return readdirSync(folder).map((file) => {
    const { description } = parse(readFileSync(new URL(file, folder), 'utf8')) as { description: string };
    return [`\`${file.replace(/\.yaml$/, '')}\``, description];
  });
}

type Flag = HelpObject['flags'][string];

/** Those that several commands take: they have a table of their own, before the commands. */
function sharedFlags(groups: readonly string[]): Flag[] {
  return allFlags.filter((flag) => isShared(flag) && groups.includes(flag.group));
}

function isShared({ commands }: Flag): boolean {
  return commands !== 'every' && commands.length > 1;
}

type CommandHelp = HelpObject['commands'][number];

/** Of `help`, the usage has every flag. */
function flagsOf({ name, flags }: CommandHelp): Flag[] {
  if (name === 'help') return [];
  return flags.flatMap((key) => described.flags[key] ?? []);
}

/** The commands of a group, below the flags that all of them take; or one command. */
function commandSections(): string {
  const inner = described.commands.filter(({ name }) => name.startsWith('emulator '));
  const common = allFlags.filter((flag) => inner.every((command) => flagsOf(command).includes(flag)));
  const sections = described.commands.map((command) => {
    const isInner = inner.includes(command);
    const before = command === inner[0] ? [`All \`emulator\` commands: ${sharedText(common)}.`] : [];
    const taken = flagsOf(command).filter((flag) => !isInner || !common.includes(flag));
    return [...before, commandSection(command, taken)].join('\n\n');
  });
  return sections.join('\n\n');
}

/** A command: its own flags as a table, and which it shares with others. */
function commandSection({ name, arguments: args, summary }: CommandHelp, taken: readonly Flag[]): string {
  const own = taken.filter((flag) => !isShared(flag));
  const shared = sharedText(taken);
  return [
    `### \`${['voicectl', name, ...args.map((arg) => arg.name)].join(' ')}\``,
    sentence(summary),
    ...(own.length === 0 ? [] : [flagTable(own)]),
    ...(shared === '' ? [] : [`Shared: ${shared}.`]),
  ].join('\n\n');
}

/** For each group: all its flags, all but some, or only some. */
function sharedText(taken: readonly Flag[]): string {
  const texts = sharedGroups.flatMap(([title, ...groups]) => {
    const all = sharedFlags(groups);
    const codes = (isIn: boolean) =>
      all.filter((flag) => taken.includes(flag) === isIn).map((flag) => code(flag.flag));
    const [has, lacks] = [codes(true), codes(false)];
    const link = `[${title}](#${title.toLowerCase()})`;
    if (has.length === 0) return [];
    if (lacks.length === 0) return [link];
    return [lacks.length < has.length ? `${link} without ${lacks.join(' ')}` : `${has.join(' ')} of ${link}`];
  });
  return texts.join(', ');
}

/** A flag without a config key has a mark; a key that is not the flag in camel case is named. */
function flagTable(flags: readonly Flag[]): string {
  const rows = flags.map((flag) => {
    const { default: fallback, defaultText, environment, configKey, help } = flag;
    const origins = [environment && code(environment), fallback === undefined ? defaultText : code(fallback)];
    const isOtherKey = configKey !== undefined && configKey !== camelCase(flag.flag);
    return [
      `${flagText(flag)}${configKey === undefined ? '¹' : ''}`,
      origins.filter((text) => text !== undefined).join(', else '),
      isOtherKey ? `${help} (key ${code(configKey)})` : help,
    ];
  });
  return table(['flag', 'default', 'meaning'], rows);
}

function flagText({ flag, short, argument, argumentIsOptional, opposite }: Flag): string {
  const word = argument === undefined ? '' : argumentIsOptional ? ` [${argument}]` : ` <${argument}>`;
  const names = [...(short === undefined ? [] : [short]), `${flag}${word}`, ...(opposite ? [opposite] : [])];
  return names.map(code).join(', ');
}

function camelCase(flag: string): string {
  return flag.slice(2).replace(/-(.)/g, (_dash, letter: string) => letter.toUpperCase());
}

interface Schema {
  type?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  properties?: Record<string, Schema>;
}

/** A section for each part of the dialect. Settings of one shape, such as refusals, are rows of one table. */
function dialectSections(schema: Schema): string {
  return Object.entries(schema.properties ?? {})
    .map(([part, inner]) => [`### \`${part}\``, ...dialectTables(inner, part)].join('\n\n'))
    .join('\n\n');
}

function dialectTables(schema: Schema, path: string): string[] {
  const columns = sharedColumns(schema);
  if (columns !== undefined) return [matrix(schema, path, columns)];
  const entries = Object.entries(schema.properties ?? {});
  const apart = entries.filter(([, inner]) => sharedColumns(inner) !== undefined);
  const rest = Object.fromEntries(entries.filter((entry) => !apart.includes(entry)));
  return [
    table(['setting', 'default', 'meaning'], dialectRows({ properties: rest }, path)),
    ...apart.map(([name, inner]) => matrix(inner, `${path}.${name}`, sharedColumns(inner) ?? [])),
  ];
}

/** The names of the fields, if at least four inner settings have nearly the same ones; else undefined. */
function sharedColumns({ properties = {} }: Schema): string[] | undefined {
  const inner = Object.values(properties);
  if (inner.length < 4 || inner.some((one) => one.properties === undefined)) return undefined;
  return [...new Set(inner.flatMap((one) => Object.keys(one.properties ?? {})))];
}

function matrix({ properties = {} }: Schema, path: string, columns: readonly string[]): string {
  const rows = Object.entries(properties).map(([name, { properties: fields = {} }]) => [
    `\`${path}.${name}\``,
    ...columns.map((column) => defaultOf(fields[column])),
  ]);
  const meanings = columns.map((column) => {
    const described = Object.values(properties).find((one) => one.properties?.[column])?.properties?.[column];
    return `\`${column}\`: ${sentence(described?.description ?? '')}`;
  });
  return `${table([`\`${path}.NAME\``, ...columns], rows)}\n\n${meanings.join(' ')}`;
}

function dialectRows(schema: Schema, path: string): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const at = `${path}.${name}`;
    if (inner.properties !== undefined) return dialectRows(inner, at);
    const choices =
      inner.enum === undefined ? '' : ` One of ${inner.enum.map((value) => `\`${value}\``).join(', ')}.`;
    return [[`\`${at}\``, defaultOf(inner), `${sentence(inner.description ?? '')}${choices}`]];
  });
}

function defaultOf(schema: Schema | undefined): string {
  return schema?.default === undefined ? '' : `\`${JSON.stringify(schema.default)}\``;
}

function table(head: readonly string[], rows: readonly string[][]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}

function sentence(text: string): string {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return whole === '' || /[.?!]$/.test(whole) ? whole : `${whole}.`;
}

/** The keys that have each value. */
function invert(record: Record<string, string>): Record<string, string[]> {
  const inverted: Record<string, string[]> = {};
  for (const [key, value] of Object.entries(record)) inverted[value] = [...(inverted[value] ?? []), key];
  return inverted;
}

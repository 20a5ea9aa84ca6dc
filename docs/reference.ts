import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import * as z from 'zod';
import type { CommandSpec } from '../src/commands/command.ts';
import { allCommands } from '../src/commands/commands.ts';
import { generalOptions, type OptionName, optionSpec, underHeadings } from '../src/config/options.ts';
import { ruleOf, situations } from '../src/conformance/drill/catalogue.ts';
import { settings as learnSettings } from '../src/conformance/learn/infer.ts';
import { stepsFor } from '../src/conformance/needed.ts';
import { backends } from '../src/devices/backend.ts';
import { audioLimitNames, audioLimits } from '../src/kernel/audio-limits.ts';
import { exitCodesOf, type FailureKind, failureKinds } from '../src/kernel/failure-kind.ts';
import { controlOperations, controlPrefix } from '../src/protocol/control.ts';
import { describeCatalogue } from '../src/protocol/describe-faults.ts';
import { dialectSchema } from '../src/protocol/dialect.ts';
import { faultPoints } from '../src/protocol/faults.ts';
import { type NetworkQuality, networkProfiles } from '../src/protocol/network.ts';
import { serviceRules } from '../src/rules/catalogue.ts';
import { bindings } from '../src/ui/keys.ts';

/** The parts of the pages that are generated from the code, by the name of their marker. */
export const references: Record<string, string> = {
  commands: allCommands
    .map(
      ({ spec: { name, args = [], summary, ...spec } }) =>
        `### \`${['voicectl', name, ...args.map(([arg]) => arg)].join(' ')}\`\n\n${sentence(summary)}\n\n${optionTables(spec)}`,
    )
    .join('\n\n'),
  failures: table(
    ['kind', 'exit code', 'meaning'],
    Object.entries(failureKinds).map(([kind, meaning]) => [
      `\`${kind}\``,
      exitCodesOf(kind as FailureKind).join(', '),
      meaning,
    ]),
  ),
  limits: table(
    ['flag, and key of a conversation file', 'fails as', 'meaning'],
    audioLimitNames.map((name) => {
      const { kind, help } = audioLimits[name];
      const duration = 'mayBeAny' in audioLimits[name] ? '[D]' : 'D';
      return [`\`--${name} ${duration}\``, `\`${kind}\``, help];
    }),
  ),
  general: optionTable(generalOptions),
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
  learn: table(['setting', 'exchanges', 'how it is found out'], learnRows()),
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

/** Settings that one exchange tells together are one row. */
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

/** The page with each generated part put between its markers. Throws where a marker has no end or no content. */
export function withReferences(page: string): string {
  return placesIn(page).reduce((text, name) => {
    const [open, close] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`];
    const [start, end] = [text.indexOf(open), text.indexOf(close)];
    const content = references[name];
    if (content === undefined || end < start) throw new Error(`There is no content or no end for ${name}`);
    return `${text.slice(0, start + open.length)}\n\n${content}\n\n${text.slice(end)}`;
  }, page);
}

/** Name and description of each shipped scenario. */
function shippedScenarios(): string[][] {
  const folder = new URL('../examples/scenarios/', import.meta.url);
  return readdirSync(folder).map((file) => {
    const { description } = parse(readFileSync(new URL(file, folder), 'utf8')) as { description: string };
    return [`\`${file.replace(/\.yaml$/, '')}\``, description];
  });
}

/** The options of a command, a table for each heading of its help. */
function optionTables({ options, headings }: Pick<CommandSpec, 'options' | 'headings'>): string {
  return underHeadings(options, headings)
    .map(([heading, names]) => `${heading}\n\n${optionTable(names)}`)
    .join('\n\n');
}

function optionTable(names: readonly OptionName[]): string {
  const rows = names.map((name) => {
    const { flag, help, env, default: fallback, defaultText, flagOnly, negatable } = optionSpec(name);
    const origins = [env === undefined ? '' : `\`${env}\``, flagOnly ? '' : `\`${name}\``];
    return [
      negatable ? `\`${flag}\`, \`${flag.replace('--', '--no-')}\`` : `\`${flag}\``,
      fallback === undefined ? (defaultText ?? '') : `\`${fallback}\``,
      ...origins,
      help,
    ];
  });
  return table(['flag', 'default', 'environment', 'config key', 'meaning'], rows);
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

/** The names of the fields, where at least four inner settings have nearly the same ones; else undefined. */
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

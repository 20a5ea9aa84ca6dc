import * as z from 'zod';
import type { CommandSpec } from '../src/commands/command.ts';
import { commands } from '../src/commands/program.ts';
import { generalOptions, type OptionName, optionSpec } from '../src/config/options.ts';
import { exitCodesOf, type FailureKind, failureKinds } from '../src/kernel/failure-kind.ts';
import { dialectSchema } from '../src/protocol/dialect.ts';
import { describeCatalogue, faultPoints } from '../src/protocol/faults.ts';

/** The parts of the README that are generated from the code, by the name of their marker. */
export const references: Record<string, string> = {
  commands: allCommands()
    .map(
      ({ name, args = [], summary, options }) =>
        `### \`${['voicectl', name, ...args.map(([arg]) => arg)].join(' ')}\`\n\n${sentence(summary)}\n\n${optionTable(options)}`,
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
  general: optionTable(generalOptions),
  faults: Object.entries(faultPoints)
    .map(([point, chance]) => `Strike ${chance}:\n\n${faultTable(point)}`)
    .join('\n\n'),
  dialect: table(
    ['setting', 'default', 'meaning'],
    dialectRows(z.toJSONSchema(dialectSchema, { io: 'input' }) as Schema, ''),
  ),
};

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

/** Commands and those inside others, by their whole name. */
function allCommands(): CommandSpec[] {
  return commands.flatMap((one) =>
    'subcommands' in one
      ? one.subcommands.map((inner) => ({ ...inner, name: `${one.name} ${inner.name}` }))
      : [one],
  );
}

/** The text with each generated part put between its markers. */
export function withReferences(readme: string): string {
  return Object.entries(references).reduce((text, [name, content]) => {
    const [open, close] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`];
    const [start, end] = [text.indexOf(open), text.indexOf(close)];
    if (start < 0 || end < start) throw new Error(`README.md has no place for ${name}`);
    return `${text.slice(0, start + open.length)}\n\n${content}\n\n${text.slice(end)}`;
  }, readme);
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

function dialectRows(schema: Schema, path: string): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const at = path === '' ? name : `${path}.${name}`;
    if (inner.properties !== undefined) return dialectRows(inner, at);
    const choices =
      inner.enum === undefined ? '' : ` One of ${inner.enum.map((value) => `\`${value}\``).join(', ')}.`;
    const fallback = inner.default === undefined ? '' : `\`${JSON.stringify(inner.default)}\``;
    return [[`\`${at}\``, fallback, `${sentence(inner.description ?? '')}${choices}`]];
  });
}

function table(head: readonly string[], rows: readonly string[][]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function sentence(text: string): string {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return whole === '' || whole.endsWith('.') ? whole : `${whole}.`;
}

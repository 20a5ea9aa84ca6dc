import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAst } from 'vitest/node';

const src = join(import.meta.dirname, '..', 'src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => ({ file, text: readFileSync(join(src, file), 'utf8') }));

/** Almost every function fits on a screen. */
const longFunctionLines = 60;
const mostLongShare = 0.01;

const functionTypes: readonly unknown[] = [
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
];

interface Node {
  type?: unknown;
  start: number;
  end: number;
}

/** The number of the line of an offset, from 1. */
function createLineOf(text: string): (offset: number) => number {
  const numbers = new Uint32Array(text.length + 1);
  let line = 1;
  for (let offset = 0; offset <= text.length; offset += 1) {
    numbers[offset] = line;
    if (text[offset] === '\n') line += 1;
  }
  return (offset) => numbers[offset] as number;
}

/** The number of lines of each function in a file, including inner ones. */
function functionsOf({ file, text }: { file: string; text: string }): { at: string; lines: number }[] {
  const found: { at: string; lines: number }[] = [];
  const lineOf = createLineOf(text);
  const visit = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return;
    const { type, start, end } = value as Node;
    if (functionTypes.includes(type))
      found.push({ at: `${file}:${lineOf(start)}`, lines: lineOf(end) - lineOf(start) + 1 });
    for (const inner of Object.values(value)) visit(inner);
  };
  visit(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }).body);
  return found;
}

test('at most 1 % of the functions have more than 60 lines', () => {
  const functions = files.flatMap(functionsOf);
  const long = functions.filter(({ lines }) => lines > longFunctionLines).sort((a, b) => b.lines - a.lines);
  expect(functions.length).toBeGreaterThan(5_000);
  expect(
    long.length / functions.length,
    long.map(({ at, lines }) => `${at}: ${lines} lines`).join('\n'),
  ).toBeLessThanOrEqual(mostLongShare);
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, Script } from 'node:vm';
import { expect, test } from 'vitest';
import { parseAst } from 'vitest/node';

const src = join(import.meta.dirname, '..', 'src');
const bytes = 65_536;
/**
 * In processor time, because a busy machine is slow. A pattern that reads a text once takes a few milliseconds; one that
 * rereads it from each position takes seconds, and minutes for 1 MiB.
 */
const limitMs = 75;

/** Every pattern in the program once, with a file that contains it. */
function patterns(): Map<string, { pattern: string; flags: string; file: string }> {
  const found = new Map<string, { pattern: string; flags: string; file: string }>();
  for (const file of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
    if (!/\.tsx?$/.test(file)) continue;
    const visit = (value: unknown) => {
      if (typeof value !== 'object' || value === null) return;
      const { regex } = value as { regex?: { pattern: string; flags: string } };
      if (regex !== undefined) found.set(`/${regex.pattern}/${regex.flags}`, { ...regex, file });
      for (const inner of Object.values(value)) visit(inner);
    };
    visit(parseAst(readFileSync(join(src, file), 'utf8'), { lang: file.endsWith('x') ? 'tsx' : 'ts' }).body);
  }
  return found;
}

/** The pieces of the text: the words of the pattern itself, and characters that its classes match. */
function pieces(pattern: string): string[] {
  const literal = pattern.replace(/\\[dwsDWSbBpP](?:\{[^}]*\})?|\(\?<?[=!:]/g, ' ').replaceAll('\\', '');
  const words = literal.split(/[()[\]{}|?*+^$ ]+/).filter((word) => word !== '');
  return [...new Set([...words, ...words.join(' ').split(/\W+/), 'a', '0', ' ', '\n', '/'])].filter(
    (piece) => piece !== '',
  );
}

const sandbox = createContext({});
const run = new Script('text.replace(new RegExp(pattern, flags), "")');

const texts = new Map<string, string>();

/** This many bytes of a piece. A last character that matches no pattern makes it try another start. */
function textOf(piece: string): string {
  const known = texts.get(piece) ?? `${piece.repeat(Math.ceil(bytes / piece.length))}\u0001`;
  if (piece.length === 1) texts.set(piece, known);
  return known;
}

/** The texts that a pattern reads for longer than the limit. */
function hangs(pattern: string, flags: string, mostMs = limitMs): string[] {
  return pieces(pattern).filter((piece) => {
    Object.assign(sandbox, { pattern, flags, text: textOf(piece) });
    for (let timeout = mostMs; ; timeout *= 2) {
      const before = process.cpuUsage();
      try {
        run.runInContext(sandbox, { timeout });
        return false;
      } catch (thrown) {
        expect(thrown).toMatchObject({ code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' });
        const { user, system } = process.cpuUsage(before);
        if ((user + system) / 1_000 >= mostMs) return true;
      }
    }
  });
}

test('finds a pattern that rereads a text from each position', () => {
  expect(hangs('(clear|flush).*(audio|buffer)', 'i', 50)).toContain('clear');
  expect(hangs(String.raw`\/+$`, '', 50)).toEqual(['/']);
});

test('every pattern reads 64 KiB of its own words only once', () => {
  const all = [...patterns()];
  expect(all.length).toBeGreaterThan(100);
  const wrong = all.flatMap(([name, { pattern, flags, file }]) =>
    hangs(pattern, flags).map((piece) => `${file}: ${name} over ${JSON.stringify(piece)}`),
  );
  expect(wrong).toEqual([]);
}, 240_000);

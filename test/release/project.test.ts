import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** The cells of each row of the tables of a page, without headings. */
const rowsOf = (page: string) =>
  page
    .split('\n')
    .filter((line) => /^\| (?!---)/.test(line))
    .map((line) => line.split(/(?<!\\) \| /).map((cell) => cell.replace(/^\| | \|$/g, '')));

describe('SECURITY.md', () => {
  const [, ...threats] = rowsOf(read('SECURITY.md'));

  test('names for each threat the tests that carry out the attack, and they exist', () => {
    expect(threats.length).toBeGreaterThan(10);
    for (const [from, , prevents, cell = ''] of threats) {
      const tests = [...cell.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path);
      expect({ from, prevents: prevents !== '', tests: tests.length > 0 }).toMatchObject({
        prevents: true,
        tests: true,
      });
      expect(tests.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    }
  });

  test('says how to report a vulnerability, and what is not defended', () => {
    expect(read('SECURITY.md')).toContain('Report a vulnerability');
    expect(read('SECURITY.md')).toContain('## What is not defended');
  });
});

describe('AGENTS.md', () => {
  const page = read('AGENTS.md');

  test('is one page', () => {
    expect(Buffer.byteLength(page)).toBeLessThan(6 * 1024);
  });

  test('shows commands, files and rooms that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    for (const [, name = ''] of page.matchAll(/npm run ([\w:]+)/g)) expect(scripts).toHaveProperty([name]);
    const rooms = readdirSync(join(root, 'src')).filter((name) => !name.includes('.'));
    const paths = [...page.matchAll(/`((?:src|test|release|bench|examples|fixtures)\/[\w./-]+)`/g)];
    for (const [, path = ''] of paths.filter(([path]) => !path.includes('/a/b')))
      expect({ path, exists: existsSync(join(root, path)) }).toEqual({ path, exists: true });
    for (const room of rooms) expect(page).toContain(`\`${room}\``);
  });
});

describe('.editorconfig', () => {
  const text = read('.editorconfig');

  test('configures editors to match the formatter', () => {
    const { formatter } = JSON.parse(read('biome.json')) as {
      formatter: { indentStyle: string; indentWidth: number; lineWidth: number };
    };
    expect(text).toContain(`indent_style = ${formatter.indentStyle}`);
    expect(text).toContain(`indent_size = ${formatter.indentWidth}`);
    expect(text).toContain(`max_line_length = ${formatter.lineWidth}`);
  });
});

describe('templates', () => {
  const folder = join(root, '.github', 'ISSUE_TEMPLATE');
  const forms = readdirSync(folder).filter((name) => name !== 'config.yml');

  test.each(forms)('the form %s has a name, and fields with unique labels', (name) => {
    const form = parse(readFileSync(join(folder, name), 'utf8')) as {
      name: string;
      description: string;
      body: { type: string; id?: string; attributes: { label?: string; value?: string } }[];
    };
    expect(form.name).not.toBe('');
    expect(form.description).not.toBe('');
    const fields = form.body.filter(({ type }) => type !== 'markdown');
    const known = ['textarea', 'input', 'dropdown', 'checkboxes'];
    expect(fields.filter(({ type, attributes }) => !known.includes(type) || !attributes.label)).toEqual([]);
    expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length);
  });

  test('a bug report asks for the version, but not for a key', () => {
    expect(readFileSync(join(folder, 'bug.yml'), 'utf8')).toMatch(/Remove API keys[\s\S]*voicectl --version/);
  });
});

test('no file of the project contains the address of a repository that does not exist', () => {
  const files = ['SECURITY.md', 'AGENTS.md', 'CODE_OF_CONDUCT.md', 'CONTRIBUTING.md', 'action.yml']
    .concat(within('.github'))
    .filter((path) => existsSync(join(root, path)));
  for (const path of files)
    expect({ path, text: read(path) }).not.toMatchObject({
      text: expect.stringMatching(/github\.com\/[^$\s]+\/voicectl|example\.(com|org)/),
    });
});

function within(folder: string): string[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return files.map((file) => join(folder, file)).filter((path) => statSync(join(root, path)).isFile());
}

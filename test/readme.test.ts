import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { placesIn, references, withReferences } from '../docs/reference.ts';
import { allCommands } from '../src/commands/commands.ts';
import { readExamples } from './helpers/doc-examples.ts';
import { readCommand } from './helpers/read-command.ts';
import { voicectlCalls } from './helpers/shell-words.ts';

const root = join(import.meta.dirname, '..');
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const read = (path: string) => readFileSync(join(root, path), 'utf8');

test.each(pages)('the reference in %s matches the code (npm run docs regenerates it)', async (page) => {
  await expect(withReferences(read(page))).toMatchFileSnapshot(join(root, page));
});

test('each generated part is on exactly one page', () => {
  expect(pages.flatMap((page) => placesIn(read(page))).toSorted()).toEqual(
    Object.keys(references).toSorted(),
  );
});

test('the README fits on a page: reference material is in docs/', () => {
  expect(Buffer.byteLength(read('README.md'))).toBeLessThanOrEqual(12 * 1024);
  expect(placesIn(read('README.md'))).toEqual([]);
});

test('the README links every page of docs/', () => {
  const linked = [...read('README.md').matchAll(/\]\((docs\/[\w-]+\.md)\)/g)].map(([, page]) => page);
  expect([...new Set(linked)].toSorted()).toEqual(pages.slice(1).toSorted());
});

/** The anchor that a heading of a page has on GitHub. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');

test.each(pages)('the links of %s lead somewhere', (page) => {
  const text = read(page);
  const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([\w-]+))?\)/g)];
  for (const [link, path = '', anchor] of links) {
    const target = path === '' ? page : join(dirname(page), path);
    expect({ link, exists: existsSync(join(root, target)) }).toEqual({ link, exists: true });
    if (anchor === undefined) continue;
    const anchors = [...read(target).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
    expect(anchors, link).toContain(anchor);
  }
});

test('what a page of the package links or shows is in the package too', () => {
  const { files } = JSON.parse(read('package.json')) as { files: string[] };
  /** As npm takes it: a file, a folder, or the files of a folder by their ending. npm always adds the README. */
  const isPacked = (path: string) =>
    path === 'README.md' ||
    files.some((one) => {
      const [folder = '', ending] = one.split('*');
      return ending === undefined
        ? path === one || path.startsWith(`${one}/`)
        : dirname(path) === dirname(one) && path.startsWith(folder) && path.endsWith(ending);
    });
  const all = [...pages, ...files.filter((file) => file.endsWith('.md') && !file.includes('*'))];
  const missing = all.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:)([^)#\s]+)/g)]
      .map(([, path = '']) => join(dirname(page), path))
      .filter((path) => !isPacked(path))
      .map((path) => `${page}: ${path}`),
  );
  expect(missing).toEqual([]);
});

describe('ARCHITECTURE.md', () => {
  const text = read('ARCHITECTURE.md');

  test('names every room of src/', () => {
    const rooms = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((one) => one.isDirectory());
    for (const { name } of rooms) expect(text).toContain(`| \`${name}\` |`);
  });

  test('names only files and folders that exist', () => {
    const paths = [...text.matchAll(/`((?:src|test|docs)\/[\w/.-]+)`/g)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(30);
    for (const path of paths.filter((one) => !one.includes('NAME')))
      expect({ path, exists: existsSync(join(root, path)) }).toEqual({ path, exists: true });
  });
});

const documented = [
  ...pages.flatMap((page) =>
    readExamples(read(page))
      .filter(({ language }) => language === 'sh')
      .flatMap(({ code }) => voicectlCalls(code))
      .filter(([command]) => command !== 'help')
      .map((args) => [page, args.join(' '), args] as const),
  ),
  ...allCommands.flatMap(({ spec: { name, examples } }) =>
    examples.flatMap((line) =>
      voicectlCalls(line).map((args) => [`the help of ${name}`, args.join(' '), args] as const),
    ),
  ),
];

describe('commands that are shown', () => {
  test('are found on the pages', () => {
    const text = documented.map(([, line]) => line);
    expect(text).toContain('stream --file fixtures/hello.wav --local --expect-audio');
    expect(text).toContain('token --device d1 --local');
    expect(text).toContain('completion bash');
    expect(text.length).toBeGreaterThan(60);
  });

  test.each(documented)('%s: voicectl %s', async (_page, _line, args) => {
    await readCommand(args);
  });

  test('would be refused with a flag that does not exist', async () => {
    await expect(readCommand(['stream', '--no-such-flag'])).rejects.toThrow('--no-such-flag');
    await expect(readCommand(['stream', '--wait', 'soon'])).rejects.toThrow('--wait');
  });
});

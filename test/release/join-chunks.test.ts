import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';
import { joinChunks } from '../../release/join-chunks.js';

/** A program in `dist`, built from these source files: `start` loads `main` and then `command`; `library` is separate. */
async function bundle(sources: Record<string, string>, options = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'voicectl-chunks-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(sources)) writeFileSync(join(folder, `${name}.js`), text);
  const built = await build({
    absWorkingDir: folder,
    entryPoints: ['start.js', 'library.js'],
    outdir: 'dist',
    bundle: true,
    splitting: true,
    format: 'esm',
    metafile: true,
    write: false,
    ...options,
  });
  const files = await joinChunks(built, ['start.js', 'command.js'], options);
  const before = built.outputFiles.length;
  mkdirSync(join(folder, 'dist'));
  writeFileSync(join(folder, 'dist', 'package.json'), '{"type":"module"}');
  for (const [path, text] of files) writeFileSync(join(folder, path), text);
  const run = (name: string) =>
    execFileSync(process.execPath, [join(folder, 'dist', `${name}.js`)], { encoding: 'utf8' }).trim();
  return { folder, files, before, run };
}

const sources = {
  start: `import { count } from './counter.js'; import { name } from './own-1.js';
    import { name as third } from './own-3.js'; count(third); const { run } = await import('./command.js'); run(name);`,
  command: `import { count, total } from './counter.js'; import { deep } from './deep.js'; import { name } from './own-2.js';
    export const run = async (of) => { count('command'); const { late } = await import('./late.js');
      console.log(of, name, deep(), late(), total); };`,
  other: `import { name } from './own-3.js'; export const other = name;`,
  late: `import { count } from './counter.js'; import { deep } from './deep.js'; import { name } from './own-1.js';
    import { name as other } from './own-2.js'; import { inner } from './inner.js';
    export const later = () => import('./other.js');
    export const late = () => { count('late'); return [name, other, deep(), inner].join('+'); };`,
  counter: `export let total = 0; export const count = (who) => { total += 1; };`,
  deep: `import { inner } from './inner.js'; export const deep = () => 'deep ' + inner;`,
  inner: `export const inner = 'inner';`,
  'own-1': `export const name = 'first';`,
  'own-3': `export const name = 'third';`,
  'own-2': `import { inner } from './inner.js'; export const name = 'second ' + inner;`,
  library: `import { count, total } from './counter.js'; import { inner } from './inner.js';
    count('library'); console.log(total, inner, typeof globalThis.loaded);`,
};

test.each([{}, { minifyWhitespace: true, minifySyntax: true }])(
  'what is loaded together at the start is in fewer files, and behaves the same: %o',
  async (options) => {
    const { before, files, run } = await bundle(sources, options);
    expect(files.size).toBeLessThan(before);
    expect(run('start')).toBe('first second inner deep inner first+second inner+deep inner+inner 3');
    expect(run('library')).toBe('1 inner undefined');
  },
);

test('another entry does not load what only the start needs', async () => {
  const { folder, files, run } = await bundle({
    ...sources,
    start: `import './own-4.js'; ${sources.start}`,
    'own-4': 'globalThis.loaded = true;',
  });
  expect(run('library')).toBe('1 inner undefined');
  expect(files.get('dist/library.js')).not.toContain('start.js');
  expect(readdirSync(join(folder, 'dist'))).toContain('start.js');
});

test('an import of a small module does not load a large one with it', async () => {
  const large = `globalThis.loaded = true; export const large = '${'x'.repeat(70_000)}'.length;`;
  const { run } = await bundle({
    ...sources,
    large,
    'own-2': `import { large } from './large.js'; export const name = 'second ' + large;`,
    library: `${sources.library} const { small } = await import('./small.js'); console.log(small, globalThis.loaded);`,
    small: `import { deep } from './deep.js'; export const small = deep();`,
  });
  expect(run('start')).toContain('second 70000');
  expect(run('library')).toBe('1 inner undefined\ndeep inner undefined');
});

test('joined modules can still be loaded by their own names', async () => {
  const { run } = await bundle({
    ...sources,
    start: `${sources.start} const { deep } = await import('./deep.js'); console.log('again', deep());`,
  });
  expect(run('start')).toContain('again deep inner');
});

test('an entry that nothing loads by itself is refused', async () => {
  const { command: _, ...rest } = sources;
  const start = `import { count } from './counter.js'; count();`;
  await expect(bundle({ ...rest, start })).rejects.toThrow('command.js is no entry');
});

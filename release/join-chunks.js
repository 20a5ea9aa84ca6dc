import { basename, dirname, join } from 'node:path';
import { build } from 'esbuild';

/** @typedef {import('esbuild').Metafile['outputs']} Outputs */
/** @typedef {{ file: string, names: Map<string, string> }} Place the file in which the exports are now, and their names there */

/** In bytes: whoever needs a small thing must not get such a file with it. */
const large = 65_536;

/**
 * Joins files that a start always loads together. Each file costs a start a quarter of a millisecond and more, whatever is
 * in it, and the bundler makes a file for each set of entries that need the same modules: over a hundred for `stream`.
 *
 * What an entry needs, and none before it, becomes a few files: what only it needs, what other entries need too, and
 * what other programs of the package need too. What the first entry shares with either is so little that it is one
 * file. None of them brings a large file to somebody who did not need that.
 *
 * @param {import('esbuild').BuildResult<{ metafile: true, write: false }>} built as esbuild gives it, in memory
 * @param {string[]} entries source files, in the order in which a start loads them
 * @param {import('esbuild').BuildOptions} options how the files are printed
 * @returns {Promise<Map<string, string>>} the text of each file, by its path within the project
 */
export async function joinChunks({ outputFiles, metafile: { outputs } }, entries, options) {
  const starts = entries.map((source) => {
    const start = Object.keys(outputs).find((path) => outputs[path]?.entryPoint === source);
    if (start === undefined) throw new Error(`${source} is no entry: nothing imports it when it is needed`);
    return start;
  });
  const folder = dirname(starts[0] ?? '');
  const loads = (/** @type {string[]} */ roots) => reach(outputs, roots, ['import-statement']);
  const later = Object.keys(outputs).filter(
    (path) => outputs[path]?.entryPoint !== undefined && !starts.includes(path),
  );
  const programs = reach(
    outputs,
    later.filter((path) => !hasHash.test(path)),
    ['import-statement', 'dynamic-import'],
  );
  const isLarge = (/** @type {string} */ path) =>
    (outputs[path]?.bytes ?? 0) >= large && !starts.includes(path);

  /** @type {Map<string, Place>} */
  const places = new Map();
  /** @type {string[][]} */
  const groups = [];
  for (const start of starts) {
    const others = loads([...later, ...starts.slice(starts.indexOf(start) + 1)]);
    /** @type {Map<string, string[]>} */
    const alike = new Map();
    for (const path of loads([start])) {
      if (places.has(path) || isLarge(path)) continue;
      const isShared = path !== start && others.has(path);
      const users = !isShared ? 'start' : start === starts[0] || programs.has(path) ? 'programs' : 'entries';
      const key = [users, ...[...loads([path])].filter(isLarge).sort()].join();
      alike.set(key, [...(alike.get(key) ?? []), path]);
    }
    for (const group of alike.values()) {
      const taken = new Set();
      for (const path of group)
        places.set(path, place(group[0] ?? path, outputs[path]?.exports ?? [], taken));
      groups.push(group);
    }
  }

  const texts = new Map(
    outputFiles.map(({ path, text }) => {
      const name = join(folder, basename(path));
      return [name, redirect(text, name, places)];
    }),
  );
  const joined = await Promise.all(groups.map((group) => joinFiles(group, texts, places, options)));
  for (const [index, group] of groups.entries()) {
    for (const path of group) {
      texts.delete(path);
      // It is also loaded by its own name.
      if (outputs[path]?.entryPoint !== undefined) texts.set(path, exportsOf(path, places));
    }
    texts.set(group[0] ?? '', joined[index] ?? '');
  }
  return texts;
}

/** The name of a file that only other files of the bundle know. */
const hasHash = /-[A-Z0-9]{8}\.js$/;

/**
 * These files, and all that they import in one of these ways.
 * @param {Outputs} outputs
 * @param {string[]} roots
 * @param {import('esbuild').ImportKind[]} kinds
 */
function reach(outputs, roots, kinds) {
  const reached = new Set(roots);
  for (const path of reached) {
    for (const { path: imported, kind } of outputs[path]?.imports ?? [])
      if (imported in outputs && kinds.includes(/** @type {import('esbuild').ImportKind} */ (kind)))
        reached.add(imported);
  }
  return reached;
}

/**
 * @param {string} file
 * @param {string[]} exports
 * @param {Set<string>} taken names of the file
 * @returns {Place}
 */
function place(file, exports, taken) {
  const names = new Map();
  for (const name of exports) {
    let free = name;
    for (let number = 2; taken.has(free); number += 1) free = `${name}$${number}`;
    taken.add(free);
    names.set(name, free);
  }
  return { file, names };
}

/**
 * The text of a file, which now imports from the joined files.
 * @param {string} text
 * @param {string} path
 * @param {Map<string, Place>} places
 */
function redirect(text, path, places) {
  return text.replace(/import\s*(?:\{([^}]*)\}\s*from\s*)?"\.\/([^"]+\.js)"/g, (whole, names, imported) => {
    const to = places.get(join(dirname(path), imported));
    if (to === undefined || to.file === places.get(path)?.file) return whole;
    const source = `"./${basename(to.file)}"`;
    if (names === undefined) return `import ${source}`;
    const renamed = names.split(',').map((/** @type {string} */ one) => {
      const [, name = '', local = name] = /^\s*(\S+)(?:\s+as\s+(\S+))?\s*$/.exec(one) ?? [];
      return `${to.names.get(name)} as ${local}`;
    });
    return `import { ${renamed.join(', ')} } from ${source}`;
  });
}

/**
 * @param {string} path
 * @param {Map<string, Place>} places
 * @param {string} [source] the file that has them
 */
function exportsOf(path, places, source = places.get(path)?.file ?? path) {
  const names = [...(places.get(path)?.names ?? [])].map(([name, now]) =>
    source === path ? `${name} as ${now}` : `${now} as ${name}`,
  );
  return `export { ${names.join(', ')} } from "./${basename(source)}";\n`;
}

/**
 * @param {string[]} group
 * @param {Map<string, string>} texts
 * @param {Map<string, Place>} places
 * @param {import('esbuild').BuildOptions} options
 */
async function joinFiles(group, texts, places, options) {
  const folder = dirname(group[0] ?? '');
  const { outputFiles } = await build({
    ...options,
    stdin: { contents: group.map((path) => exportsOf(path, places, path)).join('') },
    bundle: true,
    format: 'esm',
    write: false,
    legalComments: 'inline',
    plugins: [
      {
        name: 'of-the-group',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /.*/ }, ({ path, kind }) => {
            const file = join(folder, path);
            const isMember = kind === 'import-statement' && group.includes(file);
            return isMember ? { path: file, namespace: 'group' } : { path, external: true };
          });
          // The bundler keeps only such comments: which module follows.
          onLoad({ filter: /.*/, namespace: 'group' }, ({ path }) => ({
            contents: (texts.get(path) ?? '').replace(/^( *)\/\/ (?=\S+\.[cm]?[jt]sx?$)/gm, '$1//! '),
          }));
        },
      },
    ],
  });
  return outputFiles[0]?.text ?? '';
}

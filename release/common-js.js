import { basename, dirname, join } from 'node:path';
import { transform } from 'esbuild';

/**
 * Makes CommonJS of a file and of all that it loads with it: Node runs that before it has its loader of ES modules,
 * which takes a start longer than these files. Each of them also stays an ES module, which exports what is in the other
 * one: whatever is loaded later gets the same values. It does not follow an exported variable that changes.
 *
 * @param {Map<string, string>} files the text of each file of the bundle, by its path: those of CommonJS are added
 * @param {string} start
 * @param {import('esbuild').TransformOptions} options how the files are printed
 */
export async function startAsCommonJs(files, start, options) {
  const folder = dirname(start);
  const loaded = new Set([start]);
  for (const path of loaded) {
    for (const [, name = ''] of (files.get(path) ?? '').matchAll(imported)) loaded.add(join(folder, name));
  }
  for (const path of loaded) {
    const text = files.get(path) ?? '';
    const { code } = await transform(text, { ...options, format: 'cjs', platform: 'node' });
    const name = basename(path, '.js');
    // What a bundler tells readers of CommonJS: the names of the exports.
    const [, exported = ''] = /0\s*&&\s*\(module\.exports\s*=\s*\{([^}]*)\}\)/.exec(code) ?? [];
    const names = exported.replace(/\s+/g, ' ').trim();
    files.set(
      join(folder, `${name}.cjs`),
      code.replace(/\brequire\("\.\/([^"]+)\.js"\)/g, 'require("./$1.cjs")'),
    );
    files.set(
      path,
      `import module from "node:module";\nexport const { ${names} } = module.createRequire(import.meta.url)("./${name}.cjs");\n`,
    );
  }
}

const imported = /\b(?:import|export)\s*(?:\{[^}]*\}\s*from\s*)?"\.\/([^"]+\.js)"/g;

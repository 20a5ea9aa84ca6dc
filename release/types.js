import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';

/**
 * The types of the library mention those of zod, whose code is in the bundle. These declarations come along, so that
 * zod need not be installed for them: they are a thirtieth of it.
 */
const root = join(import.meta.dirname, '..');
const types = join(root, 'dist', 'types');
const zod = join(root, 'node_modules', 'zod');
const own = join(types, 'zod');

await rm(own, { recursive: true, force: true });
const needed = await declarationsFrom(join(zod, 'index.d.ts'));
for (const file of needed) {
  const target = join(own, relative(zod, file));
  await mkdir(dirname(target), { recursive: true });
  await copyFile(file, target);
}
await copyFile(join(zod, 'LICENSE'), join(own, 'LICENSE'));
for (const name of await readdir(types, { recursive: true })) {
  if (!name.endsWith('.d.ts') || name.startsWith('zod')) continue;
  const file = join(types, name);
  const text = await readFile(file, 'utf8');
  const path = relative(dirname(file), join(own, 'index.js')).replaceAll('\\', '/');
  const specifier = path.startsWith('.') ? path : `./${path}`;
  await writeFile(file, text.replaceAll(/(from |import\()(['"])zod\2/g, `$1$2${specifier}$2`));
}

// The same for `require`: TypeScript takes declarations for what the nearest package.json says that they are.
const required = join(root, 'dist', 'types-cjs');
await rm(required, { recursive: true, force: true });
await cp(types, required, { recursive: true });
await writeFile(join(required, 'package.json'), '{ "type": "commonjs" }\n');

/**
 * A file of declarations, and all that it imports.
 * @param {string} file
 * @param {Set<string>} found
 */
async function declarationsFrom(file, found = new Set()) {
  if (found.has(file)) return found;
  found.add(file);
  const text = await readFile(file, 'utf8');
  for (const [, , path = ''] of text.matchAll(/(from |import\()['"](\.[^'"]+)['"]/g))
    await declarationsFrom(resolve(dirname(file), path.replace(/\.js$/, '.d.ts')), found);
  return found;
}

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** Who holds the rights to packages that carry no licence text, and name no author either. */
const holders = {
  '@redis/client': '2022-2025 Redis, inc.',
  'buffer-alloc': 'Linus Unnebäck',
  'buffer-alloc-unsafe': 'Linus Unnebäck',
  'buffer-fill': 'Linus Unnebäck',
  'yoga-layout': 'Meta Platforms, Inc. and affiliates.',
};

/**
 * The licences of these installed packages: for each its name, version, licence and the text of it.
 * @param {Iterable<string>} names
 * @param {string} [modules] the folder they are installed in
 * @returns {Promise<string>}
 */
export async function licensesOf(names, modules = join(root, 'node_modules')) {
  const texts = [...new Set(names)].sort().map(async (name) => {
    const about = JSON.parse(await readFile(join(modules, name, 'package.json'), 'utf8'));
    // An older package has a list of them.
    const { version, author, licenses, license = licenses?.[0]?.type } = about;
    const holder = holders[/** @type {keyof typeof holders} */ (name)] ?? author?.name ?? author;
    const text = (await ownText(join(modules, name))) ?? (await standardText(name, license, holder));
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  });
  return (await Promise.all(texts)).join(`\n${'-'.repeat(80)}\n\n`);
}

/**
 * The text that a package carries: a file of its own, or a part of its readme.
 * @param {string} folder
 */
async function ownText(folder) {
  const files = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile());
  const named = (/** @type {RegExp} */ pattern) => files.find(({ name }) => pattern.test(name))?.name;
  const file = named(/^(licen[cs]e|copying)/i);
  const readme = named(/^readme/i);
  if (file !== undefined) return readFile(join(folder, file), 'utf8');
  if (readme === undefined) return undefined;
  const [, part] = /^#+ licen[cs]e\n(.*)/ims.exec(await readFile(join(folder, readme), 'utf8')) ?? [];
  return part?.includes('Permission is hereby granted') === true ? part : undefined;
}

/**
 * The text of a licence that a package only names: that of MIT is our own, and TypeScript has that of Apache.
 * @param {string} name
 * @param {string} license
 * @param {string | undefined} holder
 */
async function standardText(name, license, holder) {
  const file = /** @type {Record<string, string>} */ ({
    MIT: join(root, 'LICENSE'),
    'Apache-2.0': join(root, 'node_modules', 'typescript', 'LICENSE'),
  })[license];
  if (file === undefined || holder === undefined)
    throw new Error(`${name}: no licence text, and none can be made for ${license} of ${holder}`);
  const copyright = `Copyright (c) ${holder}`;
  const text = await readFile(file, 'utf8');
  if (license === 'MIT') return text.replace(/^Copyright \(c\).*/m, () => copyright);
  return `${copyright}\n\n${text}`;
}

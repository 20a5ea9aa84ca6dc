// What an executable carries, as files of a folder that nobody else can write into. Bundled into the launcher.
'use strict';
const { hash, randomUUID } = require('node:crypto');
const fs = require('node:fs');
const { dirname, join, sep } = require('node:path');

/** @typedef {{ path: string, size: number, sha256: string }} Entry a file, by its path with slashes */
/**
 * @typedef {object} Cargo
 * @property {string} name the folder that it is unpacked into: another one for each version
 * @property {readonly Entry[]} entries
 * @property {() => Uint8Array} read the bytes of all files, one after the other
 */

/** Why nothing is run: others can write into the folder, or no folder can be written. */
class Refused extends Error {}

/** Who owns files, and who may write them, is only known where the system has users in this sense: not on Windows. */
const user = process.getuid?.();
const writableByOthers = 0o022;
const sticky = 0o1000;

/**
 * The folder with the files of `cargo`, in the first of `homes` that can hold it: unpacked before, or now. Throws
 * `Refused` if others can write into it, or if no home can be written.
 * @param {Cargo} cargo
 * @param {readonly string[]} homes
 */
function unpack(cargo, homes) {
  /** @type {string[]} */
  const reasons = [];
  for (const home of homes) {
    try {
      const folder = join(prepareHome(home), cargo.name);
      return isThere(folder, cargo) ? join(folder, 'files') : unpackInto(folder, cargo);
    } catch (thrown) {
      if (thrown instanceof Refused) throw thrown;
      reasons.push(/** @type {Error} */ (thrown).message);
    }
  }
  throw new Refused(`No folder can be unpacked into: ${reasons.join('; ')}`);
}

/**
 * The real path of a folder that is made if it is not there. Throws if it cannot be made, or if others could replace it.
 * @param {string} home
 */
function prepareHome(home) {
  makeFolder(home);
  const real = fs.realpathSync.native(home);
  if (user === undefined) return real;
  const own = fs.lstatSync(real);
  if (own.uid !== user || (own.mode & writableByOthers) !== 0)
    throw new Error(`${real} belongs to someone else, or others may write into it`);
  for (let at = dirname(real); ; at = dirname(at)) {
    const { uid, mode } = fs.lstatSync(at);
    const isOpen = (mode & writableByOthers) !== 0 && (mode & sticky) === 0;
    if ((uid !== user && uid !== 0) || isOpen) throw new Error(`others may replace what is in ${at}`);
    if (at === dirname(at)) return real;
  }
}

/**
 * With the folders above it. Node's own way never ends where a folder cannot be made although the one above is there, as in /proc.
 * @param {string} folder
 */
function makeFolder(folder) {
  if (fs.existsSync(folder)) return;
  if (!fs.existsSync(dirname(folder))) makeFolder(dirname(folder));
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
  } catch (thrown) {
    // Another start was faster.
    if (/** @type {NodeJS.ErrnoException} */ (thrown).code !== 'EEXIST') throw thrown;
  }
}

/**
 * Whether the folder has exactly these files. One that is incomplete or changed is removed.
 * @param {string} folder
 * @param {Cargo} cargo
 */
function isThere(folder, { entries }) {
  const own = fs.lstatSync(folder, { throwIfNoEntry: false });
  if (own === undefined) return false;
  refuseForeign(folder, own, 0o077);
  if (!own.isDirectory()) throw new Refused(`${folder} is not a folder`);
  const files = join(folder, 'files');
  const stamp = join(folder, 'stamp');
  const expected = stampOf(files, entries);
  if (expected !== undefined && expected === readOwn(stamp)) return true;
  if (!hasExactly(files, entries)) {
    const aside = `${folder}.${randomUUID()}`;
    fs.renameSync(folder, aside);
    fs.rmSync(aside, { recursive: true, force: true });
    return false;
  }
  writeStamp(folder, entries);
  return true;
}

/**
 * @param {string} path
 * @param {fs.Stats} stats
 * @param {number} forbidden bits of the mode
 */
function refuseForeign(path, { uid, mode }, forbidden) {
  if (user === undefined || (uid === user && (mode & forbidden) === 0)) return;
  throw new Refused(`${path} belongs to someone else, or others may write into it`);
}

/**
 * What changes whenever somebody writes a file or into a folder: compared instead of all bytes, at every start but the first.
 * @param {string} files
 * @param {readonly Entry[]} entries
 */
function stampOf(files, entries) {
  let stamp = '';
  for (const path of ['', ...foldersOf(entries), ...entries.map((entry) => entry.path)]) {
    const stats = fs.lstatSync(join(files, path), { throwIfNoEntry: false });
    if (stats === undefined || stats.isSymbolicLink()) return undefined;
    refuseForeign(join(files, path), stats, writableByOthers);
    stamp += `${stats.ino} ${stats.mode} ${stats.size} ${stats.ctimeMs} ${path}\n`;
  }
  return stamp;
}

/** @param {readonly Entry[]} entries */
function foldersOf(entries) {
  /** @type {Set<string>} */
  const folders = new Set();
  for (const { path } of entries)
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
      folders.add(path.slice(0, at));
  return [...folders].sort();
}

/** @param {string} file */
function readOwn(file) {
  const stats = fs.lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  refuseForeign(file, stats, writableByOthers);
  return stats.isFile() ? fs.readFileSync(file, 'utf8') : undefined;
}

/**
 * @param {string} folder
 * @param {readonly Entry[]} entries
 */
function writeStamp(folder, entries) {
  const stamp = stampOf(join(folder, 'files'), entries);
  const draft = join(folder, randomUUID());
  try {
    fs.writeFileSync(draft, stamp ?? '', { mode: 0o600, flag: 'wx' });
    fs.renameSync(draft, join(folder, 'stamp'));
  } catch {
    // Where nothing can be written, each start compares all bytes.
  }
}

/**
 * @param {string} files
 * @param {readonly Entry[]} entries
 */
function hasExactly(files, entries) {
  const found = fs.existsSync(files) ? fs.readdirSync(files, { recursive: true, encoding: 'utf8' }) : [];
  if (found.length !== entries.length + foldersOf(entries).length) return false;
  return entries.every(({ path, size, sha256 }) => {
    const file = join(files, path);
    const stats = fs.lstatSync(file, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || stats.size !== size) return false;
    return hash('sha256', fs.readFileSync(file), 'hex') === sha256;
  });
}

/**
 * Writes the files beside their place, and then moves them there in one step.
 * @param {string} folder
 * @param {Cargo} cargo
 */
function unpackInto(folder, cargo) {
  const { entries } = cargo;
  const draft = fs.mkdtempSync(`${folder}.`);
  try {
    const files = join(draft, 'files');
    for (const path of ['', ...foldersOf(entries)]) fs.mkdirSync(join(files, path), { mode: 0o700 });
    const bytes = cargo.read();
    let at = 0;
    for (const { path, size, sha256 } of entries) {
      const part = bytes.subarray(at, at + size);
      at += size;
      if (hash('sha256', part, 'hex') !== sha256)
        throw new Refused(`This executable is damaged (${path}). Download it again`);
      fs.writeFileSync(join(files, path), part, { mode: 0o600, flag: 'wx' });
    }
    fs.renameSync(draft, folder);
  } catch (thrown) {
    fs.rmSync(draft, { recursive: true, force: true });
    // Another start was faster.
    if (fs.existsSync(folder) && !(thrown instanceof Refused) && isThere(folder, cargo))
      return join(folder, 'files');
    throw thrown;
  }
  writeStamp(folder, entries);
  return join(folder, 'files');
}

/**
 * What a child of this program was started for: a file among those that were unpacked. `fork`, `cluster` and
 * `process.execPath` put it before the arguments, and flags of Node before it.
 * @param {readonly string[]} args
 * @param {Cargo} cargo
 * @returns {{ home: string, entry: string, flags: readonly string[], args: readonly string[] } | undefined}
 */
function readChild(args, { name, entries }) {
  const at = args.findIndex((arg) => !arg.startsWith('--'));
  const path = args[at];
  const within = `${sep}${name}${sep}files${sep}`;
  const split = path?.indexOf(within) ?? -1;
  if (path === undefined || split < 0) return undefined;
  const entry = path.slice(split + within.length).replaceAll(sep, '/');
  if (!entries.some((one) => one.path === entry)) return undefined;
  return { home: path.slice(0, split), entry, flags: args.slice(0, at), args: args.slice(at + 1) };
}

module.exports = { unpack, readChild, Refused };

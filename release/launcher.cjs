// The main script of an executable: unpacks the program, and runs it from there.
'use strict';
const { createRequire } = require('node:module');
const { homedir, tmpdir } = require('node:os');
const { isAbsolute, join } = require('node:path');
const { getAsset, getRawAsset } = require('node:sea');
const { readChild, Refused, unpack } = require('./unpack.cjs');

/** @type {import('./unpack.cjs').Cargo} */
const cargo = {
  ...JSON.parse(getAsset('cargo', 'utf8')),
  read: () => require('node:zlib').gunzipSync(/** @type {ArrayBuffer} */ (getRawAsset('files'))),
};

const exitLocalIo = 8;
/** The second entry of `argv` is how this was called. */
const args = process.argv.slice(2);
const child = readChild(args, cargo);
try {
  const folder = unpack(cargo, child === undefined ? homes() : [child.home]);
  // A single executable knows no flags of Node on its command line.
  for (const flag of child?.flags ?? []) require('node:v8').setFlagsFromString(flag);
  const entry = join(folder, child?.entry ?? 'bin/voicectl.js');
  process.argv.splice(1, Number.POSITIVE_INFINITY, entry, ...(child?.args ?? args));
  // `import()` of this script reaches nothing but Node's own modules. That of a file reaches files.
  createRequire(entry)(join(folder, 'start.cjs'))(entry);
} catch (thrown) {
  if (!(thrown instanceof Refused)) throw thrown;
  process.stderr.write(
    `voicectl: ${thrown.message}\n  Remove that folder, or choose another one with ${cacheVariable()}.\n`,
  );
  process.exitCode = exitLocalIo;
}

/** Where programs keep what they can make again, else where temporary files are. */
function homes() {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  let cache = '';
  try {
    if (process.platform === 'win32') cache = LOCALAPPDATA ?? '';
    else
      cache = XDG_CACHE_HOME ?? join(homedir(), process.platform === 'darwin' ? 'Library/Caches' : '.cache');
  } catch {
    // A user without a home.
  }
  const temporary = join(tmpdir(), `voicectl-${process.getuid?.() ?? 'files'}`);
  return isAbsolute(cache) ? [join(cache, 'voicectl'), temporary] : [temporary];
}

function cacheVariable() {
  return process.platform === 'win32' ? 'LOCALAPPDATA' : 'XDG_CACHE_HOME';
}

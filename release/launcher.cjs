// The main script of an executable: unpacks the program, and runs it from there.
'use strict';
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { getAsset, getRawAsset } = require('node:sea');
const { cacheFolders } = require('../src/files/cache-folder.ts');
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
  const folder = unpack(cargo, child === undefined ? cacheFolders({ env: process.env }) : [child.home]);
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

function cacheVariable() {
  return process.platform === 'win32' ? 'LOCALAPPDATA' : 'XDG_CACHE_HOME';
}

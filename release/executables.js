import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { inject } from 'postject';
import { licensesOf } from './licenses.js';
import { integrity, platforms } from './platforms.js';

/**
 * `npm run executables [-- PLATFORM…] [--out FOLDER]`: one file for each platform, which is Node with the program in
 * it, and SHA256SUMS. Node comes from the registry, as packages for each platform.
 */
const root = join(import.meta.dirname, '..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { out: { type: 'string', default: 'executables' }, built: { type: 'boolean', default: false } },
});
const targets = positionals.length > 0 ? positionals : Object.keys(platforms);
const out = resolve(values.out);
const packages = join(root, 'node_modules', '.cache', 'voicectl-node');
const { version, files: shipped } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
/** Where Node looks for what is in an executable. */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

await mkdir(out, { recursive: true });
// What was built before may be of other sources. Tests have built, and others read what they built: --built.
if (!values.built) execFileSync(process.execPath, [join(root, 'build.js')]);
for (const target of targets) await buildFor(target);
await writeChecksums();

/** @param {string} target */
async function buildFor(target) {
  const platform = platforms[target];
  if (platform === undefined)
    throw new Error(`There is no platform ${target}: ${Object.keys(platforms).join(', ')}`);
  const node = await fetchNode(platform.node, platform.version);
  const work = join(out, `.${target}`);
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  const blob = await writeBlob(work, target, platform, node);
  const name = `voicectl-${target}${target.startsWith('win') ? '.exe' : ''}`;
  const draft = join(work, name);
  await copyFile(join(node, platform.file), draft);
  await chmod(draft, 0o755);
  const stripped = platform.strip.find((program) => spawnSync(program, [draft]).status === 0);
  const isMac = target.startsWith('darwin');
  if (isMac && process.platform === 'darwin') execFileSync('codesign', ['--remove-signature', draft]);
  await injectQuietly(draft, blob, isMac);
  if (isMac && process.platform === 'darwin') execFileSync('codesign', ['--sign', '-', draft]);
  await rename(draft, join(out, name));
  await rm(work, { recursive: true });
  const { size } = await stat(join(out, name));
  const remarks = [`${(size / 1e6).toFixed(1)} MB`, `Node ${platform.version}`];
  if (platform.strip.length > 0) remarks.push(stripped ? `stripped by ${stripped}` : 'NOT stripped');
  if (isMac && process.platform !== 'darwin')
    remarks.push('NOT signed: on macOS, codesign --sign - signs it');
  console.log(`${name}: ${remarks.join(', ')}`);
}

/**
 * The folder with a package of Node: fetched once, and only if it is what it was.
 * @param {string} name
 * @param {string} nodeVersion
 */
async function fetchNode(name, nodeVersion) {
  const wanted = integrity[/** @type {keyof typeof integrity} */ (`${name}@${nodeVersion}`)];
  if (wanted === undefined) throw new Error(`${name}@${nodeVersion} is not in release/platforms.js`);
  const folder = join(packages, `${name}-${nodeVersion}`);
  if (existsSync(join(folder, 'package'))) return join(folder, 'package');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const packed = execFileSync(
    'npm',
    ['pack', `${name}@${nodeVersion}`, '--pack-destination', folder, '--silent'],
    { encoding: 'utf8', shell: process.platform === 'win32', stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const tarball = join(folder, packed.trim().split('\n').at(-1) ?? '');
  const found = `sha512-${await hashOf(tarball, 'sha512', 'base64')}`;
  if (found !== wanted) throw new Error(`${name}@${nodeVersion} is another package than before: ${found}`);
  execFileSync('tar', ['-xzf', tarball, '-C', folder]);
  await rm(tarball);
  return join(folder, 'package');
}

/**
 * What Node finds in the executable: the launcher, the list of files, and the files.
 * @param {string} work
 * @param {string} target
 * @param {import('./platforms.js').Platform} platform
 * @param {string} node
 */
async function writeBlob(work, target, platform, node) {
  const files = await filesFor(target, node);
  const entries = files.map(({ path, bytes }) => ({ path, size: bytes.length, sha256: sha256(bytes) }));
  const name = `${version}-${sha256(JSON.stringify(entries)).slice(0, 16)}`;
  await writeFile(join(work, 'cargo.json'), JSON.stringify({ name, entries }));
  await writeFile(
    join(work, 'files.gz'),
    gzipSync(Buffer.concat(files.map(({ bytes }) => bytes)), { level: 9 }),
  );
  await build({
    entryPoints: [join(root, 'release', 'launcher.cjs')],
    outfile: join(work, 'launcher.cjs'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node24',
  });
  await writeFile(
    join(work, 'sea.json'),
    JSON.stringify({
      main: join(work, 'launcher.cjs'),
      output: join(work, 'blob'),
      disableExperimentalSEAWarning: true,
      useCodeCache: false,
      // The options of a developer's Node are not for this program.
      execArgvExtension: 'none',
      assets: { cargo: join(work, 'cargo.json'), files: join(work, 'files.gz') },
    }),
  );
  // A blob is for one version of Node: that version writes it, as it is for this machine.
  const host = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const own = await fetchNode(platforms[host]?.node ?? host, platform.version);
  execFileSync(
    join(own, platforms[host]?.file ?? ''),
    ['--experimental-sea-config', join(work, 'sea.json')],
    {
      stdio: 'pipe',
    },
  );
  return readFile(join(work, 'blob'));
}

/**
 * The files that the program reads, with their paths.
 * @param {string} target
 * @param {string} node
 */
async function filesFor(target, node) {
  const echo = '@ennuicastr/webrtcaec3.js';
  const isOfLibrary = /^(library|jest)\.cjs$|^(index|testing|vitest|jest)\.js$|^types\b|^LICENSES\.txt$/;
  const paths = [
    'package.json',
    'bin/package.json',
    'bin/voicectl.js',
    ...(await within('dist')).filter((path) => !isOfLibrary.test(path.slice('dist/'.length))),
    ...(await within('examples/scenarios')),
    ...shipped.filter((/** @type {string} */ path) => path.startsWith('fixtures/')),
    ...(await within(`node_modules/${echo}/dist`)),
    `node_modules/${echo}/package.json`,
  ];
  const files = await Promise.all(
    paths.map(async (path) => ({ path, bytes: await readFile(join(root, path)) })),
  );
  const add = (/** @type {string} */ path, /** @type {string} */ text) =>
    files.push({ path, bytes: Buffer.from(text) });
  add('executable.json', JSON.stringify({ platform: target }));
  add('start.cjs', "module.exports = (entry) => import(require('node:url').pathToFileURL(entry).href);\n");
  add('dist/LICENSES.txt', await licencesWith(echo, node));
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * The licences of what only executables have: Node with its parts, and the echo canceller.
 * @param {string} echo
 * @param {string} node
 */
async function licencesWith(echo, node) {
  const own = await readFile(join(root, 'dist', 'LICENSES.txt'), 'utf8');
  const inPackage = join(node, 'LICENSE');
  // The package for Windows has none: it is the same Node.
  const linux = join(
    await fetchNode(platforms['linux-x64']?.node ?? '', platforms['linux-x64']?.version ?? ''),
    'LICENSE',
  );
  const ofNode = await readFile(existsSync(inPackage) ? inPackage : linux, 'utf8');
  const line = `\n${'-'.repeat(80)}\n\n`;
  return [own, await licensesOf([echo]), `Node.js\n\n${ofNode}`].join(line);
}

/** @param {string} folder */
async function within(folder) {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(root.length + 1)
        .replaceAll('\\', '/'),
    );
}

/**
 * postject warns of every note of an ELF file that it does not know.
 * @param {string} file
 * @param {Buffer} blob
 * @param {boolean} isMac
 */
async function injectQuietly(file, blob, isMac) {
  const { log, warn } = console;
  Object.assign(console, { log() {}, warn() {} });
  try {
    await inject(file, 'NODE_SEA_BLOB', blob, {
      sentinelFuse: fuse,
      ...(isMac && { machoSegmentName: 'NODE_SEA' }),
    });
  } finally {
    Object.assign(console, { log, warn });
  }
}

/** Of every executable in the folder, also of those that were built before. */
async function writeChecksums() {
  const names = (await readdir(out)).filter((name) => name.startsWith('voicectl-')).sort();
  const lines = await Promise.all(
    names.map(async (name) => `${await hashOf(join(out, name), 'sha256', 'hex')}  ${name}\n`),
  );
  await writeFile(join(out, 'SHA256SUMS'), lines.join(''));
}

/** @param {string | Buffer} data */
function sha256(data) {
  return createHash('sha256').update(data).digest('hex');
}

/**
 * @param {string} file
 * @param {string} algorithm
 * @param {import('node:crypto').BinaryToTextEncoding} encoding
 */
async function hashOf(file, algorithm, encoding) {
  const hash = createHash(algorithm);
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest(encoding);
}

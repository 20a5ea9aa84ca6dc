import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/**
 * `npm run release`: tags the version of package.json, once everything that it promises is so. The tag makes the
 * workflow release.yml publish it. `--dry-run` checks the same and changes nothing; `--notes` prints what the
 * changelog says of the version.
 */
const { values } = parseArgs({
  options: { 'dry-run': { type: 'boolean', default: false }, notes: { type: 'boolean', default: false } },
});
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const tag = `v${version}`;
const section = sectionOf(readFileSync('CHANGELOG.md', 'utf8'));

if (section === undefined || section.notes === '')
  refuse(`CHANGELOG.md has no section "## ${version} (YYYY-MM-DD)" with text in it`);
if (values.notes) {
  console.log(section.notes);
  process.exit();
}
const changed = git('status', '--porcelain');
if (changed !== '') refuse(`The tree is dirty. Commit these files, or remove them:\n${changed}`);
if (git('tag', '--list', tag) !== '') refuse(`${tag} is tagged already. Choose the next version`);
console.log(`Checking ${tag} of ${section.date} with npm run check…`);
const { status } = spawnSync('npm', ['run', 'check'], {
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
if (status !== 0) refuse(`npm run check failed (exit ${status}). Mend it first`);

const steps = [
  `git tag --annotate ${tag}, with ${section.notes.split('\n').length} lines of the changelog as its message`,
  `You then push it: git push origin ${tag}`,
  'release.yml runs the tests again, and publishes the npm package with provenance',
  'release.yml attaches executables, checksums and the SBOM to a release with these notes, and pushes the image',
];
if (values['dry-run']) {
  console.log(`Would release ${version}:\n${steps.map((step, at) => `  ${at + 1}. ${step}`).join('\n')}`);
  console.log('Nothing was changed.');
} else {
  git('tag', '--annotate', tag, '--cleanup=verbatim', '--message', `voicectl ${version}\n\n${section.notes}`);
  console.log(`Tagged ${tag}. Push it, and release.yml publishes it:\n  git push origin ${tag}`);
}

/**
 * What the changelog says of this version.
 * @param {string} changelog
 * @returns {{date: string, notes: string} | undefined}
 */
function sectionOf(changelog) {
  const heading = new RegExp(`^## ${version.replaceAll('.', '\\.')} \\((\\d{4}-\\d\\d-\\d\\d)\\)$`);
  const part = changelog.split(/^(?=## )/m).find((text) => heading.test(text.split('\n')[0] ?? ''));
  const [first = '', ...lines] = part?.split('\n') ?? [];
  const [, date] = heading.exec(first) ?? [];
  return date === undefined ? undefined : { date, notes: lines.join('\n').trim() };
}

/** @param {string[]} args */
function git(...args) {
  return execFileSync('git', args, { encoding: 'utf8' }).trimEnd();
}

/**
 * @param {string} why
 * @returns {never}
 */
function refuse(why) {
  console.error(`Not released: ${why}`);
  process.exit(1);
}

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { detailLine, markdownTable } from './report.js';

const readme = join(import.meta.dirname, 'README.md');
const markers = /(<!-- begin: last run -->\n)[\s\S]*(<!-- end: last run -->)/;

/**
 * What `npm run bench` has measured.
 *
 * @typedef {object} Run
 * @property {string} date
 * @property {string} processor
 * @property {number} memoryGiB
 * @property {string} system
 * @property {Record<string, string>} versions
 * @property {number} seconds
 * @property {number} loadBefore
 * @property {number} loadAfter
 * @property {import('./report.js').Summary[]} benchmarks
 */

/**
 * Puts a run into README.md, in place of the last one.
 *
 * @param {Run} run
 */
export function writeReadme(run) {
  const text = readFileSync(readme, 'utf8');
  if (!markers.test(text)) throw new Error(`${readme} has no place for a run`);
  writeFileSync(
    readme,
    text.replace(markers, (_, begin, end) => `${begin}${describeRun(run)}${end}`),
  );
}

/** @param {Run} run */
function describeRun({
  date,
  processor,
  memoryGiB,
  system,
  versions,
  seconds,
  loadBefore,
  loadAfter,
  benchmarks,
}) {
  const packages = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const details = benchmarks.filter((summary) => summary.details !== undefined).map(detailLine);
  return [
    `${date}, ${processor}, ${memoryGiB} GiB, ${system}; ${packages.join(', ')}. ${seconds} s.`,
    `Load average ${loadBefore} before and ${loadAfter} after: the benchmark itself is about 2 of the latter.`,
    '',
    markdownTable(benchmarks),
    '',
    ...(details.length === 0 ? [] : ['Details:', '', ...details.map((line) => `- ${line}`), '']),
  ].join('\n');
}

/**
 * Measures the built program beside its floors: `npm run bench`, or `npm run bench -- NAME…`. README.md says more.
 */
import { parseArgs } from 'node:util';
import { createCatalogue } from './catalogue.js';
import { busyness, describeMachine } from './measure/machine.js';
import { runInTurns } from './measure/turns.js';
import { detailLine, summarise, textTable } from './report.js';
import { writeReadme } from './write-readme.js';

const { values: flags, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    turns: { type: 'string' },
    minutes: { type: 'string', default: '10' },
    peers: { type: 'string' },
  },
});

const catalogue = createCatalogue({ minutes: Number(flags.minutes), peers: flags.peers });
const unknown = names.filter((name) => !catalogue.some((benchmark) => benchmark.name === name));
if (unknown.length > 0) {
  console.error(
    `No such benchmark: ${unknown.join(', ')}. There are: ${catalogue.map(({ name }) => name).join(', ')}`,
  );
  process.exit(2);
}
const chosen = catalogue.filter(({ name, onRequest }) =>
  names.length === 0 ? !onRequest : names.includes(name),
);

const machine = describeMachine();
const startedAt = performance.now();
const loadBefore = busyness();
const summaries = [];
for (const benchmark of chosen) {
  const turns = flags.turns === undefined ? benchmark.turns : Number(flags.turns);
  const onTurn = (/** @type {number} */ turn) => progress(`${benchmark.name} ${turn + 1}/${turns}`);
  const summary = summarise(await runInTurns({ ...benchmark, turns }, { onTurn }));
  progress('');
  summaries.push(summary);
  if (!flags.json && summary.details !== undefined) console.error(detailLine(summary));
}
const run = {
  date: new Date().toISOString().slice(0, 10),
  ...machine,
  seconds: Math.round((performance.now() - startedAt) / 1000),
  /** Load averages include the benchmark itself, in the second one. */
  loadBefore,
  loadAfter: busyness(),
  benchmarks: summaries,
};
if (flags.json) {
  console.log(JSON.stringify(run, null, 2));
} else {
  const { node, ...others } = machine.versions;
  const packages = Object.entries(others).map(([name, version]) => `${name} ${version}`);
  console.log(`Node ${node}, ${packages.join(', ')}; ${machine.processor}, ${machine.system}`);
  console.log(`Load average before ${run.loadBefore}, after ${run.loadAfter}; ${run.seconds} s\n`);
  console.log(textTable(summaries));
}
if (flags.write) writeReadme(run);

/** @param {string} text */
function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}

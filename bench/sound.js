/**
 * How far live audio is from the wire: `node bench/sound.js`. Speaks and listens by a sound server of its own, with the
 * program and with bare programs in one run. README.md says more.
 */
import { parseArgs } from 'node:util';
import { barePrograms, measureBare, measureBareEcho } from './sound/bare.js';
import { measureFaults } from './sound/faults.js';
import { measureHoles } from './sound/holes.js';
import { measureLong } from './sound/long.js';
import { measureBargeIn, measureDelay, measureEcho, measureStalls } from './sound/measure.js';

const { values: flags } = parseArgs({
  options: {
    backends: { type: 'string', default: 'pulse,alsa,naudiodon,ffmpeg,sox,decibri' },
    only: { type: 'string', default: 'delay,echo,barge-in,stalls' },
    json: { type: 'boolean', default: false },
    minutes: { type: 'string' },
  },
});
if (flags.minutes !== undefined) {
  for (const backend of flags.backends.split(',')) {
    await measureLong(backend, Number(flags.minutes), (text) => console.log(`${backend}: ${text}`));
  }
  process.exit(0);
}
const wanted = flags.only.split(',');
/** @type {Record<string, Record<string, unknown>>} */
const table = {};
for (const backend of flags.backends.split(',')) {
  /** @type {Record<string, unknown>} */
  const row = {};
  table[backend] = row;
  const isBare = Object.hasOwn(barePrograms, backend);
  if (wanted.includes('delay')) {
    row['wire → ear'] = await measureDelay(backend);
    if (isBare) row['the same, bare'] = await measureBare(backend);
  }
  if (wanted.includes('echo')) {
    row['mouth → ear'] = await measureEcho(backend);
    if (isBare) row['the same, bare '] = await measureBareEcho(backend);
  }
  if (wanted.includes('barge-in')) Object.assign(row, await measureBargeIn(backend));
  if (wanted.includes('faults')) Object.assign(row, await measureFaults(backend));
  if (wanted.includes('holes')) Object.assign(row, await measureHoles(backend));
  if (wanted.includes('stalls')) Object.assign(row, await measureStalls(backend));
  if (!flags.json) console.error(backend, JSON.stringify(row));
}
if (flags.json) console.log(JSON.stringify(table));
else console.table(table);
process.exit(0);

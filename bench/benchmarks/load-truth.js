import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ahead } from '../../test/helpers/ahead.js';
import { bytesPerSecond, frameMs } from '../load/audio.js';
import { wavOf } from '../load/wav.js';
import { program, startKnown } from '../measure/subject.js';

const run = promisify(execFile);
const speechMs = 1_000;
/** What the service does. Its own log says when it did it. */
const known = {
  speechFrames: speechMs / frameMs,
  ...{ tokenMs: 200, firstAudioMs: 300, spreadMs: 50, refused: 0.02, cut: 0.01 },
};
const sessions = 1_000;
const statistics = ['p50', 'p90', 'p95', 'p99', 'p99.9', 'max'];

/** Speech that lasts until its last frame, so that the end of speech is known too. */
function speech() {
  const pcm = Buffer.alloc((speechMs / 1000) * bytesPerSecond);
  for (let at = 0; at < pcm.length; at += 2) {
    const t = at / bytesPerSecond;
    pcm.writeInt16LE(Math.round(9_000 * (0.7 + 0.3 * Math.sin(50 * t)) * Math.sin(1_130 * t)), at);
  }
  return wavOf(pcm);
}

/** @param {readonly number[]} values @param {number} percent */
function nearestRank(values, percent) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * values.length) - 1)] ?? Number.NaN;
}

/** @param {string} statistic */
const percentOf = (statistic) => (statistic === 'max' ? 100 : Number(statistic.slice(1)));

/** @type {import('../measure/turns.js').Benchmark} */
export const loadTruth = {
  name: 'load-truth',
  figure: '`load`, largest error of a percentile of first audio or token; 1 is 2 ms or 2 %',
  unit: '×',
  turns: 1,
  goal: { of: 'value', atMost: 1, text: '≤ 1 ×' },
  async program() {
    const folder = mkdtempSync(join(tmpdir(), 'voicectl-bench-'));
    const file = join(folder, 'speech.wav');
    writeFileSync(file, speech());
    const service = await startKnown(known);
    try {
      const [command = '', ...args] = [
        ...[...ahead, process.execPath, program, 'load', '--base-url', `http://127.0.0.1:${service.port}`],
        ...[
          '--file',
          file,
          '--json',
          '--sessions',
          `${sessions}`,
          '--arrival',
          'poisson:50/s',
          '--seed',
          '1',
        ],
      ];
      const { stdout } = await run(command, args, { maxBuffer: 1e8 }).catch((thrown) => thrown);
      const summary = JSON.parse(stdout.trim().split('\n').at(-2) ?? '');
      const { counts, failures, metrics, invalid } =
        summary.type === 'summary' ? summary : JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
      const log = await service.log();
      const refused = failures['token-refused'] ?? 0;
      const cut = failures['stream-broken'] ?? 0;
      if (refused !== log.refused.length || cut !== log.cut.length || counts.arrived !== sessions)
        throw new Error(`${refused} refused and ${cut} cut, but ${log.refused.length} and ${log.cut.length}`);
      /** @type {Record<string, string | number>} */
      const details = { refused, cut };
      const off = [];
      for (const [metric, truth] of Object.entries({
        'first-audio': [...log.firstAudio, ...log.cut],
        token: [...log.token, ...log.refused],
      })) {
        for (const statistic of statistics) {
          const expected = nearestRank(truth, percentOf(statistic));
          const { ms } = metrics[metric].statistics[statistic];
          off.push(Math.abs(ms - expected) / Math.max(2, 0.02 * expected));
          details[`${metric} ${statistic} ms`] = `${ms.toFixed(1)} for ${expected.toFixed(1)}`;
        }
      }
      const limit = invalid.length === 0 ? {} : { limit: invalid.join('; ') };
      return { value: Math.max(...off), details, ...limit };
    } finally {
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

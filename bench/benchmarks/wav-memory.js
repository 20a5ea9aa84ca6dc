import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytesPerSecond, speechLike } from '../load/audio.js';
import { wavHeader } from '../load/wav.js';
import { forkToEnd, program, startFloor } from '../measure/subject.js';

const minute = 60;
const hour = 3_600;

/**
 * The most memory that a process held while it streamed a WAV of so many seconds as fast as it was taken.
 *
 * @param {number} seconds
 */
async function peakMegabytes(seconds) {
  const folder = mkdtempSync(join(tmpdir(), 'voicectl-bench-'));
  const file = join(folder, 'long.wav');
  const pcm = speechLike(minute);
  const handle = openSync(file, 'w');
  writeSync(handle, wavHeader(seconds * bytesPerSecond));
  for (let written = 0; written < seconds; written += minute) writeSync(handle, pcm);
  closeSync(handle);
  const service = await startFloor('service');
  try {
    const base = `http://127.0.0.1:${service.port}`;
    const args = ['--file', file, '--pace', 'max', '--wait', '0ms', '--tail', '0ms', '--base-url', base];
    const start = performance.now();
    const { peakBytes } = await forkToEnd([program, 'stream', ...args, '--output', 'plain'], {
      VOICECTL_API_KEY: 'bench',
    });
    return { megabytes: peakBytes / 1e6, seconds: (performance.now() - start) / 1000 };
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @type {import('../measure/turns.js').Benchmark} */
export const wavMemory = {
  name: 'wav-memory',
  figure: 'peak memory with an hour-long WAV, beyond that with a one-minute WAV',
  unit: 'MB',
  turns: 2,
  goal: { of: 'value', atMost: 40, text: '+ ≤ 40 MB' },
  async program() {
    const short = await peakMegabytes(minute);
    const long = await peakMegabytes(hour);
    return {
      value: long.megabytes - short.megabytes,
      details: { 'minute MB': short.megabytes, 'hour MB': long.megabytes, 'hour took s': long.seconds },
    };
  },
};

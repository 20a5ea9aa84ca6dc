import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runChaos } from './chaos.ts';

// `VOICECTL_CHAOS_SECONDS=120 npx vitest run test/chaos` is the long run.
const seconds = Number(process.env.VOICECTL_CHAOS_SECONDS ?? 3);
const hasProc = existsSync('/proc/self/fd');
if (!hasProc) console.warn('NOT CHECKED: there is no /proc here; the chaos run is skipped');

test.skipIf(!hasProc)(
  'after chaos on 20 connections the emulator is alive, and has released memory, file descriptors and slots',
  async () => {
    const { before, after, counts, died } = await runChaos({ durationMs: seconds * 1_000, seed: 42 });
    expect(died).toBeUndefined();
    for (const name of [
      'token',
      'speaks',
      'floods',
      'does not read',
      'nonsense',
      'fault',
      'stopped and continued',
    ]) {
      expect(counts[name], name).toBeGreaterThan(0);
    }
    expect(after.state.streams).toEqual([]);
    expect(after.state.devices.filter(({ connections }) => connections > 0)).toEqual([]);
    expect(after.descriptors).toBeLessThanOrEqual(before.descriptors + 5);
    expect((after.heapBytes - before.heapBytes) / 1024 / 1024).toBeLessThan(5);
    console.info(
      `chaos: ${seconds} s, heap ${before.heapBytes} → ${after.heapBytes}, descriptors ${before.descriptors} → ${after.descriptors}`,
      counts,
    );
  },
  (seconds + 120) * 1_000,
);

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createProcessCrew } from '../../../src/runs/load/process-crew.ts';
import type { CrewJob } from '../../../src/runs/load/run-load.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';

const folder = mkdtempSync(join(tmpdir(), 'voicectl-crew-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a generator that does not become ready is ended, and the run is not valid', async () => {
  const [worker, pidFile] = [join(folder, 'worker.mjs'), join(folder, 'pid')];
  writeFileSync(
    worker,
    `import { writeFileSync } from 'node:fs'; process.on('message', () => {}); writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));`,
  );
  const clock = createManualClock();
  const { signal } = new AbortController();
  const job = { share: { part: 0, of: 1 } } as CrewJob;
  const crew = createProcessCrew(job, { worker, processes: 1, env: process.env, clock, signal });
  const refused = expect(crew).rejects.toMatchObject({
    code: 'not-valid',
    message: 'A generator was not ready within 30 s',
  });
  const readPid = () => Number(readFileSync(pidFile, 'utf8'));
  await expect.poll(readPid).toBeGreaterThan(0);
  clock.advance(30_000);
  await refused;
  await expect.poll(() => isThere(readPid())).toBe(false);
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

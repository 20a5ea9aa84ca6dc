import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type Share, sessionsOf } from '../../../src/runs/load/plan.ts';
import { createProcessCrew } from '../../../src/runs/load/process-crew.ts';
import type { CrewJob } from '../../../src/runs/load/run-load.ts';
import { createManualClock, type ManualClock } from '../../helpers/manual-clock.ts';
import { tickOf } from './ticks.ts';

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

/** Runs generators that report a second each time the last report was read, `reports` times, and are done. */
async function runCrew(
  { share, processes, reports }: { share: Share; processes: number; reports: number },
  clock: ManualClock,
  onReport: (job: CrewJob) => void,
) {
  const worker = join(folder, 'reporting.mjs');
  const tick = JSON.stringify(tickOf({ generator: 0 }));
  writeFileSync(
    worker,
    `let job;
    process.on('message', (message) => {
      if (message.type === 'job') { job = message.job; process.send({ type: 'ready' }); }
      if (message.type !== 'start') return;
      for (let second = 0; second < ${reports}; second += 1)
        process.send({ type: 'tick', tick: { ...${tick}, second, job } });
      process.send({ type: 'done' }, () => process.disconnect());
    });`,
  );
  const { signal } = new AbortController();
  const job = { share } as CrewJob;
  const crew = await createProcessCrew(job, { worker, processes, env: process.env, clock, signal });
  const lost: string[] = [];
  await crew.run(clock.wall(), signal, {
    onTick: (tick) => onReport((tick as typeof tick & { job: CrewJob }).job),
    onFailure() {},
    onLost: (_generator, why) => lost.push(why),
  });
  return { lost };
}

test('a generator that goes on reporting is not lost, however long the run', async () => {
  const clock = createManualClock();
  let reports = 0;
  const { lost } = await runCrew({ share: { part: 0, of: 1 }, processes: 1, reports: 4 }, clock, () => {
    reports += 1;
    clock.advance(5_000);
  });
  expect({ lost, reports }).toEqual({ lost: [], reports: 4 });
});

test('the generators of a shard run each of its sessions once', async () => {
  const share = { part: 1, of: 3 };
  const shares: Share[] = [];
  await runCrew({ share, processes: 2, reports: 1 }, createManualClock(), (job) => shares.push(job.share));
  const sessions = shares.flatMap((one) => sessionsOf(one, 20)).sort((a, b) => a - b);
  expect(shares).toHaveLength(2);
  expect(sessions).toEqual(sessionsOf(share, 20));
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

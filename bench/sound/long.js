import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { collectDelays, describe, openScene } from './measure.js';
import { now } from './time.js';

const stallEveryMs = 120_000;
const stallMs = 300;

/**
 * A long session in which the sound server is held up every two minutes: the delay before and after each time, and how
 * many holes were heard and were counted.
 *
 * @param {string} backend @param {number} minutes @param {(text: string) => void} tell
 */
export async function measureLong(backend, minutes, tell) {
  const scene = await openScene(backend);
  const delays = [];
  try {
    await sleep(10_000);
    delays.push(await collectDelays(scene.service, scene.ear, 8));
    tell(`at the start ${describe(delays[0] ?? [])}`);
    const startedAt = now();
    const before = { counted: figuresOf(scene)?.underruns ?? 0, heard: scene.ear.holes };
    for (let stall = 1; stall * stallEveryMs <= minutes * 60_000; stall += 1) {
      await sleep(startedAt + stall * stallEveryMs - now() - 20_000);
      const early = await collectDelays(scene.service, scene.ear, 8);
      await scene.server.stall(stallMs);
      await sleep(6_000);
      const late = await collectDelays(scene.service, scene.ear, 8);
      delays.push(late);
      const counted = (figuresOf(scene)?.underruns ?? 0) - before.counted;
      tell(
        [
          `stall ${stall}: ${describe(early)} → ${describe(late, scene.problem())}`,
          `its own delay ${figuresOf(scene)?.playbackDelayMs}`,
          `holes so far ${scene.ear.holes - before.heard} heard, ${counted} counted`,
          `load ${loadavg()[0]?.toFixed(1)}`,
        ].join(', '),
      );
      if (scene.isOver) break;
    }
    tell(`at the end ${describe(delays.at(-1) ?? [])}`);
  } finally {
    const code = await scene.close();
    const summary = scene.events().findLast(({ type }) => type === 'summary');
    tell(`exit ${code}, under-runs in all ${summary?.underruns}`);
  }
}

/** @param {Awaited<ReturnType<typeof openScene>>} scene */
function figuresOf(scene) {
  return scene.events().findLast(({ type }) => type === 'figures');
}

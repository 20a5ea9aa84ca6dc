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
  const heard = [];
  const delays = [];
  try {
    await sleep(10_000);
    delays.push(await collectDelays(scene.service, scene.ear, 8));
    tell(`at the start ${describe(delays[0] ?? [])}`);
    const startedAt = now();
    const holesBefore = figuresOf(scene)?.underruns ?? 0;
    for (let stall = 1; stall * stallEveryMs <= minutes * 60_000; stall += 1) {
      await sleep(startedAt + stall * stallEveryMs - now() - 20_000);
      const before = await collectDelays(scene.service, scene.ear, 8);
      const at = now();
      await scene.server.stall(stallMs);
      await sleep(6_000);
      const holes = countHoles(scene.ear.levels(at - 500, at + 4_000));
      heard.push(holes);
      const after = await collectDelays(scene.service, scene.ear, 8);
      delays.push(after);
      const counted = (figuresOf(scene)?.underruns ?? 0) - holesBefore;
      tell(
        `stall ${stall}: ${describe(before)} → ${describe(after, scene.problem())}, holes heard ${holes}, under-runs so far ${counted}, its own delay ${figuresOf(scene)?.playbackDelayMs}`,
      );
      if (scene.isOver) break;
    }
    tell(`at the end ${describe(delays.at(-1) ?? [])}`);
  } finally {
    const code = await scene.close();
    const summary = scene.events().findLast(({ type }) => type === 'summary');
    tell(
      `exit ${code}, under-runs ${summary?.underruns}, stalls with a hole ${heard.filter((count) => count > 0).length}`,
    );
  }
}

/** @param {Awaited<ReturnType<typeof openScene>>} scene */
function figuresOf(scene) {
  return scene.events().findLast(({ type }) => type === 'figures');
}

/** Stretches of silence of 20 ms and more. @param {{ isLoud: boolean }[]} steps */
function countHoles(steps) {
  let holes = 0;
  let quiet = 0;
  for (const { isLoud } of steps) {
    if (isLoud && quiet >= 4) holes += 1;
    quiet = isLoud ? 0 : quiet + 1;
  }
  return holes;
}

import { setTimeout as sleep } from 'node:timers/promises';
import { makeMurmur } from '../../test/helpers/murmur.js';
import { stallProcess } from '../../test/helpers/sound-server.js';
import { describe, openScene, speak, withinMs } from './measure.js';
import { now } from './time.js';

/** @typedef {Awaited<ReturnType<typeof openScene>>} Scene */

const holeMs = 500;
const afterSeconds = [2, 4, 8, 25];
/** Between the holes of a minute. */
const betweenMs = 20_000;
/** Short, because audio that is made up for has seams. */
const pieceFrames = 5;
const pieceMs = pieceFrames * 20;

/**
 * How late a listener hears before a hole of 500 ms, and 2, 4, 8 and 25 s after it: one hole in the network, three in a
 * minute (after the last), and a sound server that hangs while the service echoes.
 *
 * @param {string} backend
 */
export async function measureHoles(backend) {
  return {
    'one hole': await measureNetwork(backend, 1),
    'three in a minute': await measureNetwork(backend, 3),
    'server hangs, echo': await measureEcho(backend),
  };
}

/** @param {string} backend @param {number} holes */
async function measureNetwork(backend, holes) {
  const scene = await openScene(backend);
  const { service, ear } = scene;
  /** Delays of what left within 600 ms from a moment on. @param {number} at */
  const delaysFrom = async (at) => {
    const delays = [];
    for (let from = at; from < at + 600; from += 100) {
      await sleep(Math.max(0, from + pieceMs + withinMs - now()));
      const piece = service.piece(pieceFrames, now() - from - pieceMs);
      if (piece === undefined) continue;
      const { delayMs, likeness } = ear.find(piece.samples, piece.leftAt, withinMs - 200);
      if (likeness > 0.9) delays.push(delayMs);
    }
    return delays;
  };
  try {
    await sleep(8_000);
    // It sends what was held up at once, as a network does that is back.
    return await follow(scene, delaysFrom, () => stallProcess(service.pid, holeMs), holes);
  } finally {
    await scene.close();
  }
}

/** @param {string} backend */
async function measureEcho(backend) {
  const scene = await openScene(backend);
  const { server, mouth, ear } = scene;
  const voice = makeMurmur(60, 99);
  /** @param {number} at */
  const delaysFrom = async (at) => {
    await sleep(Math.max(0, at + 600 + withinMs + 1_000 - now()));
    const delays = [];
    for (let from = at; from < at + 600; from += 100) {
      const samples = mouth.heardFrom(from, pieceMs * 16);
      const { delayMs, likeness } = ear.find(samples, from, withinMs);
      if (likeness > 0.9) delays.push(delayMs);
    }
    return delays;
  };
  try {
    scene.service.become('echo');
    await sleep(1_000);
    void speak(server.env, voice);
    await sleep(8_000);
    return await follow(scene, delaysFrom, () => server.stall(holeMs), 1);
  } finally {
    await scene.close();
  }
}

/**
 * @param {Scene} scene
 * @param {(at: number) => Promise<number[]>} delaysFrom
 * @param {() => Promise<void>} hole
 * @param {number} holes
 */
async function follow(scene, delaysFrom, hole, holes) {
  const before = describe(await delaysFrom(now()), scene.problem());
  for (let count = 1; count < holes; count += 1) {
    await hole();
    await sleep(betweenMs);
  }
  const heardBefore = scene.ear.holes;
  await hole();
  const endedAt = now();
  const after = [];
  for (const seconds of afterSeconds) after.push(describe(await delaysFrom(endedAt + seconds * 1_000)));
  return `${[before, ...after].join(' | ')}; holes ${scene.ear.holes - heardBefore}`;
}

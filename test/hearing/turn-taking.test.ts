import { describe, expect, test } from 'vitest';
import type { Dialogue } from '../../src/audio/dialogue/dialogue.ts';
import { judgeDialogue } from '../../src/audio/dialogue/judge-dialogue.ts';
import { measureSteps } from '../helpers/pcm.ts';
import { type SeededConversation, seededConversation, withNoise } from './seeded-conversation.ts';
import { type Speaker, speakersOfFixtures, speakersOfTools } from './voices-of-tools.ts';

/**
 * `npm run hearing`: 200 conversations of five synthesised voices. The suite has a sample, of the fixtures. The method was
 * made with seeds 1 to 100.
 */
const isFull = process.env.HEARING === '1';
const conversations = isFull ? 200 : 3;
const firstSeed = Number(process.env.FIRST_SEED ?? (isFull ? 1_001 : 1));

interface Errors {
  response: number[];
  yield: number[];
  overlap: number[];
  /** Events that were missed or invented, as sentences. */
  wrong: string[];
  /** Interruptions after which the reply ended: cut, or by itself? Whether that is told rightly, or else a sentence. */
  endings: (true | string)[];
}

function compare(errors: Errors, seed: number, truth: SeededConversation, found: Dialogue): void {
  const about = (what: string, expected: unknown, measured: unknown) =>
    errors.wrong.push(`seed ${seed}, ${what}: expected ${expected}, found ${measured}`);
  for (const one of truth.turns) {
    const turn = found.turns.find((other) => other.turn === one.turn);
    if (turn === undefined) {
      about(`turn ${one.turn}`, 'a turn', 'none');
      continue;
    }
    if ((turn.earlyMs !== null) !== (one.earlyMs !== null))
      about(`turn ${one.turn}, early reply`, one.earlyMs, turn.earlyMs);
    if (turn.reply !== one.reply) about(`turn ${one.turn}, reply`, one.reply, turn.reply);
    const isEnding = one.interruption === 'yielded' && ['yielded', 'ended'].includes(`${turn.interruption}`);
    if (isEnding)
      errors.endings.push(turn.interruption === 'yielded' || `seed ${seed}, turn ${one.turn}: found ended`);
    else if (turn.interruption !== one.interruption)
      about(`turn ${one.turn}, interruption`, one.interruption, turn.interruption);
    const response = turn.responseMs ?? (turn.earlyMs === null ? null : -turn.earlyMs);
    const expected = one.responseMs ?? (one.earlyMs === null ? null : -one.earlyMs);
    if (response !== null && expected !== null) errors.response.push(Math.abs(response - expected));
    if (turn.yieldMs !== null && one.yieldMs !== null)
      errors.yield.push(Math.abs(turn.yieldMs - one.yieldMs));
  }
  for (const one of truth.noises) {
    const noise = found.noises.find((other) => other.turn === one.turn);
    if (noise === undefined) about(`sound ${one.turn}`, 'a sound', 'none');
    else {
      if ((noise.stoppedAtMs !== null) !== one.isStop)
        about(`sound ${one.turn}, false interruption`, one.isStop, noise.stoppedAtMs);
      if ((noise.answeredAtMs !== null) !== one.isAnswered)
        about(`sound ${one.turn}, answers noise`, one.isAnswered, noise.answeredAtMs);
      if ((noise.resumedAfterMs !== null) !== (one.resumedAfterMs !== null))
        about(`sound ${one.turn}, resumed`, one.resumedAfterMs, noise.resumedAfterMs);
    }
  }
  if (found.turns.length !== truth.turns.length) about('turns', truth.turns.length, found.turns.length);
  if (found.noises.length !== truth.noises.length) about('sounds', truth.noises.length, found.noises.length);
  errors.overlap.push(Math.abs(found.figures.overlapMs - truth.overlapMs));
}

const percentile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * values.length) - 1)] ?? 0;

const noises = {
  none: undefined,
  ...(isFull
    ? { 'white, 20 dB': { snrDb: 20, isPink: false }, 'pink, 20 dB': { snrDb: 20, isPink: true } }
    : {}),
} as const;

/** A reply that is cut in a soft sound, without a message, may sound like one that ends by itself. */
const mostUnheard = 0.02;

/** The 95th percentile of the error of each figure, in milliseconds. */
const limits = {
  clean: { response: 20, yield: 20, overlap: 20 },
  noisy: { response: 60, yield: 60, overlap: 60 },
} as const;

describe('figures of turn-taking over seeded conversations', {
  timeout: isFull ? 900_000 : 60_000,
}, async () => {
  const speakers: Speaker[] = isFull ? await speakersOfTools() : await speakersOfFixtures();

  test.each(Object.entries(noises))('are right with noise: %s', (name, noise) => {
    const errors: Errors = { response: [], yield: [], overlap: [], wrong: [], endings: [] };
    for (let seed = firstSeed; seed < firstSeed + conversations; seed += 1) {
      const truth = seededConversation(seed, speakers);
      const heard = (pcm: Buffer, side: number) =>
        measureSteps(
          noise === undefined
            ? pcm
            : withNoise(pcm, noise.snrDb, { seed: 2 * seed + side, isPink: noise.isPink }),
        );
      const found = judgeDialogue({
        user: heard(truth.user, 0),
        ai: heard(truth.ai, 1),
        clips: truth.clips,
        stops: truth.stops,
        waitMs: 10_000,
      });
      compare(errors, seed, truth, found);
    }
    const row = [errors.response, errors.yield, errors.overlap].map(
      (one) => `${percentile(one, 0.5)} / ${percentile(one, 0.95)} / ${percentile(one, 1)} (${one.length})`,
    );
    const unheard = errors.endings.filter((one) => one !== true);
    if (isFull) {
      console.log(
        `noise: ${name}; errors in ms, p50 / p95 / max (events): response ${row[0]}, yield ${row[1]}, overlap ${row[2]}; wrong events ${errors.wrong.length}; cut replies taken for ended ${unheard.length} of ${errors.endings.length}`,
      );
      for (const line of [...errors.wrong, ...unheard].slice(0, 40)) console.log(line);
    }
    const withinMs = limits[noise === undefined ? 'clean' : 'noisy'];
    expect.soft(percentile(errors.response, 0.95), 'response').toBeLessThanOrEqual(withinMs.response);
    expect.soft(percentile(errors.yield, 0.95), 'yield').toBeLessThanOrEqual(withinMs.yield);
    expect.soft(percentile(errors.overlap, 0.95), 'overlap').toBeLessThanOrEqual(withinMs.overlap);
    if (noise !== undefined) return;
    expect(errors.wrong).toEqual([]);
    expect(unheard.length / errors.endings.length).toBeLessThanOrEqual(mostUnheard);
  });
});

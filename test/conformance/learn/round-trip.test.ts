import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { learnDialect } from '../../../src/conformance/learn/learn.ts';
import { differences, learnedDialect } from '../../../src/conformance/learn/learned-dialect.ts';
import { createEmulator } from '../../../src/emulator/emulator.ts';
import { type DialectInput, parseDialect } from '../../../src/protocol/dialect.ts';
import { hasten, hastyClock } from '../../helpers/hasten.ts';
import { anyDialect } from './dialects.ts';
import { learnOptions } from './options.ts';

/** Everything that an emulator with this dialect tells of itself. */
async function learnFrom(dialect: DialectInput) {
  await using emulator = await createEmulator({ dialect, acceptKeys: ['key-1'], clock: hastyClock });
  return await hasten(hastyClock, learnDialect(learnOptions(emulator)));
}

function complete(dialect: DialectInput) {
  const parsed = parseDialect(dialect);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.dialect;
}

/** More of them with `DIALECTS=100`: each takes some seconds. */
const numRuns = Number(process.env.DIALECTS ?? 5);
const atOnce = 5;
const dialects = fc.sample(anyDialect, { numRuns, seed: 20_261_122 });
const batches = Array.from({ length: dialects.length / atOnce }, (_, index) => [
  index + 1,
  dialects.slice(index * atOnce, (index + 1) * atOnce),
]) as [number, DialectInput[]][];

describe('what learn finds out', () => {
  test.each(batches)(
    'is what was set, in batch %i of random dialects',
    async (_number, batch) => {
      const lessons = await Promise.all(batch.map(learnFrom));
      const problems = lessons.flatMap((lesson, index) => {
        const dialect = batch[index]!;
        const wrong = differences(lesson, complete(dialect));
        // What is written is a dialect.
        complete(learnedDialect(lesson));
        return wrong.length === 0 && lesson.stopped === undefined
          ? []
          : [{ dialect, wrong, stopped: lesson.stopped }];
      });
      expect(problems).toEqual([]);
      // Not true because nothing was told.
      for (const { settings } of lessons)
        expect(settings.filter(({ learned }) => 'value' in learned).length).toBeGreaterThan(45);
    },
    120_000,
  );

  test('differs from the usual dialect in just the choices that are others', async () => {
    const dialect: DialectInput = {
      token: { issuer: 'another' },
      refusals: { invalidRequest: { statuses: { emptyDeviceId: 422 } } },
      rateLimit: { window: 'sliding' },
      stream: { closes: { tokenReused: { close: 4999 } }, tokenDeadlineMs: 9_000, replyFrameMs: 60 },
    };
    const lesson = await learnFrom(dialect);
    expect(
      differences(lesson, complete({}))
        .map(({ path }) => path)
        .toSorted(),
    ).toEqual([
      'rateLimit.window',
      'refusals.invalidRequest.statuses.emptyDeviceId',
      'stream.closes.tokenReused.close',
      'stream.replyFrameMs',
      'stream.tokenDeadlineMs',
      'token.issuer',
    ]);
    expect(differences(lesson, complete(dialect))).toEqual([]);
  }, 60_000);
});

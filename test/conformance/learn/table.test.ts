import { expect, test } from 'vitest';
import { settings } from '../../../src/conformance/learn/infer.ts';
import { allSteps } from '../../../src/conformance/plan.ts';
import { dialectSchema } from '../../../src/protocol/dialect.ts';

interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  additionalProperties?: unknown;
}

/** The paths of all settings, optional ones included. */
function paths({ properties }: JsonSchema, at = ''): string[] {
  return Object.entries(properties ?? {}).flatMap(([name, inner]) =>
    inner.properties === undefined ? [at + name] : paths(inner, `${at + name}.`),
  );
}

test('every setting of the dialect says how it is determined, or why it cannot be', () => {
  const schema = dialectSchema.toJSONSchema({ io: 'input' }) as JsonSchema;
  const all = paths(schema);
  expect(all.length).toBeGreaterThan(100);
  expect(settings.map(({ path }) => path).sort()).toEqual(all.sort());
});

test('each names steps that exist', () => {
  const ids = allSteps({ waitMs: 10_000 }).map(({ id }) => id);
  for (const { steps } of settings) for (const step of steps) expect(ids).toContain(step);
});

test('nothing is concluded if nothing was seen', async () => {
  const { inferDialect } = await import('../../../src/conformance/learn/infer.ts');
  const lesson = inferDialect([], 10_000);
  expect(lesson.settings.filter(({ learned }) => 'value' in learned)).toEqual([]);
  expect(lesson.remarks).toEqual([]);
});

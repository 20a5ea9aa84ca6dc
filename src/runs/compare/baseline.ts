import * as z from 'zod';
import { checkShape } from '../check-shape.ts';
import { failedFigure } from './figure.ts';
import { refuseRun, textUpTo, verdictSchema } from './lines-run.ts';
import type { RunSet } from './run-set.ts';

/** Maximum number of runs that a baseline keeps: the newest. */
const mostRuns = 20;

const planSchema = z.array(z.tuple([textUpTo(100), z.union([z.number(), textUpTo(1_000)])])).max(20);
const figureSchema = z
  .object({
    name: z.string().regex(/^[a-z-]{1,20}(:p\d{1,2})?$/, 'expected a figure such as first-audio:p95'),
    value: z.number().min(0).max(1e9),
    noise: z.number().min(0).max(100),
    isLowerBound: z.boolean(),
  })
  .refine(({ name, value }) => name === failedFigure || value > 0, 'expected a time above 0');
const itemSchema = z.object({
  id: z.string().regex(/^[A-Za-z0-9-]{1,60}(\/[A-Za-z0-9-]{1,60})?$/, 'expected an ID such as R12'),
  title: textUpTo(200),
  verdict: verdictSchema,
  message: textUpTo(2_000).default(''),
});
const baselineSchema = z.object({
  type: z.literal('baseline'),
  format: z.literal(1),
  kind: z.enum(['load', 'stream', 'check', 'drill']),
  subject: textUpTo(2_000),
  plan: planSchema,
  runs: z
    .array(
      z.object({
        at: z.number().min(0).max(8.64e15).nullable(),
        figures: z.array(figureSchema).max(100),
        items: z.array(itemSchema).max(1_000),
      }),
    )
    .min(1)
    .max(mostRuns),
});

/** Throws `bad-input`. */
export function readBaseline(value: unknown, name: string): RunSet {
  const { kind, subject, plan, ...data } = checkShape(baselineSchema, value, (why) => refuseRun(name, why));
  const runs = data.runs.map((run) => ({ ...run, invalid: [] }));
  return { kind, subject, plan, name, runs: runs as unknown as RunSet['runs'] };
}

/** A baseline with one more run, as text. Beyond twenty the oldest are dropped. `before`: undefined for a new baseline. */
export function addToBaseline(before: RunSet | undefined, next: RunSet): { text: string; count: number } {
  const runs = [...(before?.runs ?? []), ...next.runs].slice(-mostRuns).map(({ at, figures, items }) => ({
    at,
    figures: figures.map(({ value, noise, ...rest }) => ({
      ...rest,
      value: short(value),
      noise: short(noise),
    })),
    items: items.map(({ id, title, verdict }) => ({ id, title, verdict })),
  }));
  const { kind, subject, plan } = next;
  const [head, ...each] = [{ type: 'baseline', format: 1, kind, subject, plan }, ...runs].map((one) =>
    JSON.stringify(one),
  );
  // One line per run, so that diffs are easy to read.
  return { text: `${head?.slice(0, -1)},"runs":[\n${each.join(',\n')}\n]}\n`, count: runs.length };
}

/** Whether a run is already in a baseline: the same run twice would look like no noise at all. */
export function isInBaseline({ runs }: RunSet, { runs: [next] }: RunSet): boolean {
  return runs.some(
    ({ at, figures }) =>
      at !== null &&
      at === next.at &&
      figures.every(({ name, value }) =>
        next.figures.some((one) => one.name === name && short(one.value) === short(value)),
      ),
  );
}

/** Six significant figures are more than any measurement has. */
function short(value: number): number {
  return Number(value.toPrecision(6));
}

import statistics from 'jstat';
import type { Origin } from '../../config/settings.ts';
import type { Tolerance } from '../../config/threshold.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { countText } from '../../protocol/count-text.ts';
import { type Figure, failedFigure, fromScale, isTail, partsOfTail, tailFigures, toScale } from './figure.ts';
import { type Deviation, deviationOf } from './noise.ts';
import {
  type ComparedItem,
  type ComparedRun,
  fewestRuns,
  isSideRuleId,
  type RunKind,
  type RunSet,
} from './run-set.ts';

/**
 * `unknown`: there are too few runs to know the noise; `changed`: a setting has another value, which is neither better nor
 * worse.
 */
export type Change = 'worse' | 'changed' | 'unknown' | 'better' | 'same';

export interface FigureChange {
  name: string;
  /**
   * Milliseconds; for `failed` a share, for `p95/p50` a ratio. The mean if there are several runs. Null if it was not
   * measured; `a` also if most runs did not finish.
   */
  a: number | null;
  b: number | null;
  /** Whether the true value of `b` may be higher. */
  isLowerBound: boolean;
  /** How much larger `b` is, as a share of `a`; for `failed` the difference of the shares. Null if either is missing. */
  difference: number | null;
  /** A difference up to this is noise. Null if that is not known. */
  noise: number | null;
  /** Whether `noise` includes the noise between runs. */
  isNoiseKnown: boolean;
  /** What the user allows in addition to the noise. */
  tolerance: string | null;
  change: Change;
  /** Why it is `unknown`. */
  why: string | null;
}

export interface ItemChange {
  id: string;
  title: string;
  /** Verdicts, or values; null if it is missing. Several verdicts of a baseline are joined. */
  a: string | null;
  b: string | null;
  message: string;
  change: Change;
}

export interface ComparedSide extends Pick<RunSet, 'name' | 'subject'> {
  runs: number;
  /** When the first and the last run started; null if it is not known. */
  from: number | null;
  to: number | null;
}

export interface RunComparison {
  kind: RunKind;
  a: ComparedSide;
  b: ComparedSide;
  /** The worst of all changes; `not valid` if nothing was judged. */
  verdict: Change | 'not valid';
  /** Why a side is not valid. */
  invalid: string[];
  /** What got worse comes first. */
  figures: FigureChange[];
  /** Only what changed, the worst first. */
  items: ItemChange[];
  /** How many items have not changed. */
  unchanged: number;
}

const changes: readonly Change[] = ['worse', 'changed', 'unknown', 'better', 'same'];

/**
 * Decides whether `b` is worse than `a`. Throws `bad-input` if they cannot be compared, or if a tolerance names a figure
 * that neither has.
 */
export function compareRuns(a: RunSet, b: RunSet, tolerances: readonly Tolerance[] = []): RunComparison {
  requireComparable(a, b);
  requireTolerated([a, b], tolerances);
  const invalid = [a, b].flatMap(({ name, runs }) =>
    runs.flatMap((run) => run.invalid.map((why) => `${name}: ${why}`)),
  );
  const isValid = invalid.length === 0;
  const figures = compareFigures(a, b, tolerances).map((one) =>
    isValid ? one : { ...one, change: 'unknown' as const, why: 'a run is not valid' },
  );
  const { items, unchanged } = compareItems(a, b);
  const isEmpty = figures.length === 0 && (a.kind === 'load' || a.kind === 'stream');
  const found: Change[] = isEmpty ? ['unknown'] : [...figures, ...items].map(({ change }) => change);
  // One unknown figure says little if others are known.
  const verdict =
    changes.find((one) => found.includes(one) && (one !== 'unknown' || isUnknown(figures))) ?? 'same';
  return {
    kind: a.kind,
    a: sideOf(a),
    b: sideOf(b),
    verdict: isValid ? verdict : 'not valid',
    invalid,
    figures,
    items: isValid ? items : [],
    unchanged: isValid ? unchanged : 0,
  };
}

const isUnknown = (figures: readonly FigureChange[]) => figures.every(({ change }) => change === 'unknown');

function sideOf({ name, subject, runs }: RunSet): ComparedSide {
  const times = runs.flatMap(({ at }) => (at === null ? [] : [at]));
  const [from, to] = times.length === 0 ? [null, null] : [Math.min(...times), Math.max(...times)];
  return { name, subject, runs: runs.length, from, to };
}

function requireComparable(a: RunSet, b: RunSet): void {
  if (a.kind !== b.kind)
    throw notComparable(
      `${a.name} is a result of ${a.kind}, ${b.name} of ${b.kind}`,
      'Both must be of the same kind.',
    );
  const planOf = new Map(b.plan);
  for (const [name, value] of a.plan) {
    const other = planOf.get(name);
    if (other !== value)
      throw notComparable(
        `${name} is ${value} in ${a.name}, but ${other ?? 'not known'} in ${b.name}`,
        'Only runs with the same plan can be compared.',
      );
  }
  if (a.kind === 'dialect') return;
  const ids = new Set(newest(b).items.map(({ id }) => id));
  const missing = newest(a).items.filter(({ id }) => !ids.has(id) && !isSideRuleId(id));
  if (missing.length > 0)
    throw notComparable(
      `${b.name} lacks ${countText(missing.length, 'verdict')} of ${a.name}, such as ${missing[0]?.id}`,
      'Only runs with the same level and the same rules can be compared.',
    );
}

function notComparable(message: string, hint: string): VoicectlError {
  return new VoicectlError('bad-input', `Not comparable: ${message}`, { hint });
}

/** The given tolerances for these runs. One of a config file for a figure that they do not have is for other runs. */
export function tolerancesFor(
  sets: readonly RunSet[],
  given: readonly Tolerance[],
  origin: Origin | undefined,
): readonly Tolerance[] {
  const known = figureNames(sets);
  return origin === 'flag' ? given : given.filter(({ figure }) => known.has(figure));
}

function figureNames(sets: readonly RunSet[]): ReadonlySet<string> {
  return new Set(sets.flatMap(({ runs }) => runs.flatMap(({ figures }) => figures.map(({ name }) => name))));
}

function requireTolerated(sets: readonly RunSet[], tolerances: readonly Tolerance[]): void {
  const known = figureNames(sets);
  const unknown = tolerances.find(({ figure }) => !known.has(figure));
  if (unknown === undefined) return;
  const names = known.size === 0 ? 'They have no figures.' : `They have ${[...known].join(', ')}.`;
  throw new VoicectlError('bad-input', `--tolerance ${unknown.text}: neither result has this figure`, {
    hint: names,
  });
}

const newest = ({ runs }: RunSet): ComparedRun => runs.at(-1) ?? runs[0];

function compareFigures(a: RunSet, b: RunSet, tolerances: readonly Tolerance[]): FigureChange[] {
  const [before, now] = [figuresByName(a), figuresByName(b)];
  const names = [...new Set([...before.keys(), ...now.keys()])];
  const each = names.map((name) => {
    const tolerance = tolerances.find(({ figure }) => figure === name);
    const sides = { a: before.get(name) ?? [], b: now.get(name) ?? [] };
    return compareFigure(name, { ...sides, runs: a.runs.length, of: names.length, tolerance });
  });
  const compared = each.map((one) => (isTail(one.name) ? judgeTail(one, each, tolerances) : one));
  const weight = ({ difference, noise }: FigureChange) =>
    Math.abs(difference ?? 0) / Math.max(noise ?? 1, 1e-9);
  return compared.toSorted(
    (one, other) =>
      changes.indexOf(one.change) - changes.indexOf(other.change) || weight(other) - weight(one),
  );
}

/** The figures of all runs, including their tails. */
function figuresByName({ runs }: RunSet): Map<string, Figure[]> {
  const found = new Map<string, Figure[]>();
  for (const { figures } of runs)
    for (const one of [...figures, ...tailFigures(figures)])
      found.set(one.name, [...(found.get(one.name) ?? []), one]);
  return found;
}

/**
 * A tail counts as longer only if its p95 is also longer, by more than the user allows, and the median is not shorter. A
 * shorter tail may come from a longer median.
 */
function judgeTail(
  tail: FigureChange,
  all: readonly FigureChange[],
  tolerances: readonly Tolerance[],
): FigureChange {
  if (tail.change !== 'worse' && tail.change !== 'better') return tail;
  const parts = partsOfTail(tail.name);
  const [p95, p50] = [parts.p95, parts.p50].map((name) => all.find((one) => one.name === name));
  const { a, b } = p95 ?? {};
  if (tail.change === 'better' || typeof a !== 'number' || typeof b !== 'number')
    return { ...tail, change: 'same' };
  const tolerance = tolerances.find(({ figure }) => figure === parts.p95);
  const isAllowed = tolerance !== undefined && isWithin(tolerance, a, b);
  const isLonger = b > a && !isAllowed && p50?.change !== 'better';
  return { ...tail, change: isLonger ? 'worse' : 'same' };
}

interface FigurePair {
  a: readonly Figure[];
  b: readonly Figure[];
  /** How many runs there were before; not all of them have each figure. */
  runs: number;
  /** How many figures are compared in total. */
  of: number;
  tolerance: Tolerance | undefined;
}

/** Some times do not exist in every run: there may be one message per reply, or too few events of turn-taking. */
const mayVanish = /^(jitter|gap|response|yield|talk-over):/;

function compareFigure(name: string, { a: all, b, runs, of, tolerance }: FigurePair): FigureChange {
  // If most values are lower bounds, the true value is not known: only the quick runs have one.
  const bounds = all.filter((one) => one.isLowerBound).length;
  const a = 2 * bounds > all.length ? [] : all;
  const isLowerBound = b.some((one) => one.isLowerBound);
  const allowed = tolerance === undefined ? null : tolerance.text;
  const common = { name, isLowerBound, tolerance: allowed };
  if (a.length === 0 || b.length === 0) {
    const isGone =
      all.length >= fewestRuns && b.length === 0 && name.endsWith(':p50') && !mayVanish.test(name);
    const before = all.length === 0 ? 'not measured before' : 'most earlier runs did not finish';
    return {
      ...common,
      ...{ a: meanOf(name, a), b: meanOf(name, b), difference: null, noise: null, isNoiseKnown: false },
      ...(isGone
        ? { change: 'worse', why: null }
        : { change: 'unknown', why: b.length === 0 ? 'not measured now' : before }),
    };
  }
  const sampled = (figures: readonly Figure[]) => ({
    values: figures.map(toScale),
    noises: figures.map(({ noise }) => noise),
  });
  const { difference, limit, isKnown } = deviationOf(sampled(a), sampled(b), of);
  const from = statistics.mean(a.map(toScale));
  const was = fromScale(name, from);
  const is = fromScale(name, from + difference);
  const share = (value: number) => (name === failedFigure ? value - was : value / was - 1);
  const isTolerated = tolerance !== undefined && isWithin(tolerance, was, is);
  return {
    ...common,
    ...{ a: was, b: is, difference: share(is), noise: share(fromScale(name, from + limit)) },
    isNoiseKnown: isKnown,
    ...changeOf(
      { difference, limit, isKnown },
      { isTolerated, isLowerBound, hasTolerance: allowed !== null, few: fewText(a.length, runs) },
    ),
  };
}

function changeOf(
  { difference, limit, isKnown }: Deviation,
  {
    isTolerated,
    isLowerBound,
    hasTolerance,
    few,
  }: Record<'isTolerated' | 'isLowerBound' | 'hasTolerance', boolean> & { few: string },
): Pick<FigureChange, 'change' | 'why'> {
  // Without enough runs only the user can say how much is noise.
  if (!isKnown && !hasTolerance) return { change: 'unknown', why: few };
  if (difference > (isKnown ? limit : 0) && !isTolerated) return { change: 'worse', why: null };
  if (isLowerBound)
    return { change: 'unknown', why: 'some sessions did not finish, so the true value may be higher' };
  return { change: difference < -limit && isKnown ? 'better' : 'same', why: null };
}

/** Why the noise is not known: there are too few runs, or too few have the figure. */
function fewText(measured: number, runs: number): string {
  if (runs < fewestRuns) return `fewer than ${fewestRuns} earlier runs`;
  return `measured in only ${countText(measured, 'earlier run')}; ${fewestRuns} are needed`;
}

function meanOf(name: string, figures: readonly Figure[]): number | null {
  return figures.length === 0 ? null : fromScale(name, statistics.mean(figures.map(toScale)));
}

/** Whether the user allows this change. */
function isWithin({ figure, limit, unit, isInclusive }: Tolerance, was: number, is: number): boolean {
  const change = unit === 'share' && figure !== failedFigure ? is / was - 1 : is - was;
  // The last digits are rounding errors of the logarithms.
  const shown = Number(change.toPrecision(9));
  return isInclusive ? shown <= limit : shown < limit;
}

function compareItems(a: RunSet, b: RunSet): { items: ItemChange[]; unchanged: number } {
  const before = new Map(newest(a).items.map((item) => [item.id, item]));
  const after = new Map(newest(b).items.map((item) => [item.id, item]));
  const all = [...new Set([...before.keys(), ...after.keys()])].map((id): ItemChange => {
    const [was, is] = [before.get(id), after.get(id)];
    const unsaid = isSideRuleId(id) ? 'pass' : undefined;
    const verdictIn = ({ items }: ComparedRun) => items.find((one) => one.id === id)?.verdict ?? unsaid;
    const seen = a.runs.flatMap((run) => verdictIn(run) ?? []);
    const now = is?.verdict ?? unsaid;
    return {
      id,
      title: is?.title ?? was?.title ?? '',
      a: seen.length === 0 ? null : [...new Set(seen)].join(' or '),
      b: now ?? null,
      message: is?.message ?? '',
      change: a.kind === 'dialect' ? settingChange(was, is) : verdictChange(seen, now),
    };
  });
  const items = all
    .filter(({ change }) => change !== 'same')
    .toSorted((one, other) => changes.indexOf(one.change) - changes.indexOf(other.change));
  return { items, unchanged: all.length - items.length };
}

function settingChange(was: ComparedItem | undefined, is: ComparedItem | undefined): Change {
  return was?.verdict === is?.verdict ? 'same' : 'changed';
}

/** `skipped` and `unknown` have no rank. */
const ranks = new Map([
  ['pass', 0],
  ['observed', 0],
  ['warn', 1],
  ['fail', 2],
]);

/** Compares a verdict with those of a baseline. A verdict that the baseline has is not a change. */
function verdictChange(seen: readonly string[], is: string | undefined): Change {
  if (is === undefined || seen.includes(is)) return 'same';
  const now = ranks.get(is);
  const before = seen.flatMap((verdict) => ranks.get(verdict) ?? []);
  if (now === undefined) return 'unknown';
  if (before.length === 0) return now === 0 ? 'same' : 'unknown';
  if (now > Math.max(...before)) return 'worse';
  return now < Math.min(...before) ? 'better' : 'same';
}

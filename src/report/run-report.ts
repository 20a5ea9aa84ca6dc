import type { Failure } from '../kernel/failure-kind.ts';

/** One case: what was expected, and how it went. */
export interface TestCase {
  name: string;
  classname: string;
  seconds: number;
  /** `failure`: an expectation; `error`: the run itself; `skipped`: nothing was tested. */
  outcome?: { element: 'failure' | 'error' | 'skipped'; type: string; message: string };
  out: readonly string[];
}

/** Cases that were run together. */
export interface TestSuite {
  name: string;
  startedAt: number;
  seconds: number;
  properties: readonly (readonly [name: string, value: string])[];
  cases: readonly TestCase[];
}

/** Text of a page: as it is, or bold. */
export type Marked = string | { strong: string };

/** A paragraph or a table of a page. */
export type Block = readonly Marked[] | { head: readonly string[]; rows: readonly (readonly Marked[])[] };

/** A run as pipelines get it: JUnit, annotations and a step summary are layouts of it. Texts may come from a service. */
export interface RunReport {
  /** The command and its subject: `check https://voice.example`. */
  name: string;
  suites: readonly TestSuite[];
  /** Each failure, with what it belongs to; if there is none, the run passed. */
  failures: readonly { title: string; message: string }[];
  /** What the page of a workflow's run shows. */
  blocks: readonly Block[];
}

export interface RunNaming {
  name: string;
  /** The name of the command: `check`. */
  command: string;
  /** The name of the case for the run itself. */
  unit: 'session' | 'run';
  startedAt: number;
  elapsedMs: number;
}

/** The report of a run that failed as a whole: what it found before that, and a case in error unless something had already failed. */
export function withFailure(
  found: RunReport | undefined,
  { name, command, unit, startedAt, elapsedMs }: RunNaming,
  { kind, message, exitCode }: Failure,
): RunReport {
  if (found !== undefined && found.failures.length > 0) return found;
  const seconds = elapsedMs / 1000;
  const [first, ...others] = found?.suites ?? [];
  const caseName = first === undefined ? unit : 'run';
  const before = first?.cases.find(({ name }) => name === caseName);
  const error: TestCase = {
    ...(before ?? { name: caseName, classname: `voicectl.${command}`, seconds, out: [] }),
    outcome: { element: 'error', type: kind, message },
  };
  const properties = [
    ['exitCode', String(exitCode)],
    ['failureKind', kind],
  ] as const;
  const named = new Set<string>(properties.map(([name]) => name));
  const facts = first?.properties.filter(([name]) => !named.has(name)) ?? [];
  const suite = {
    ...(first ?? { name, startedAt, seconds, cases: [] }),
    properties: [...properties, ...facts],
  };
  return {
    name: found?.name ?? name,
    suites: [{ ...suite, cases: [error, ...suite.cases.filter((one) => one !== before)] }, ...others],
    failures: [{ title: `${suite.name}: ${kind}`, message }],
    blocks: [[{ strong: kind }, ` ${message}`], ...(found?.blocks ?? [])],
  };
}

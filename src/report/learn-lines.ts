import type { Lesson } from '../conformance/learn/infer.ts';
import type { LearnResult } from '../conformance/learn/learn.ts';
import type { Difference } from '../conformance/learn/learned-dialect.ts';
import { escapeText, jsonText } from '../kernel/escape.ts';
import { version } from '../kernel/version.ts';
import { tokenRequestsPerWindow } from '../protocol/rate-limit.ts';

/** What stands at the head of a dialect that was learned. */
export function headLines({ spent, rateLimit, stopped }: LearnResult, service: string): string[] {
  const { tokens, plain, connections } = spent;
  const isUsual = rateLimit === undefined || rateLimit === tokenRequestsPerWindow;
  return [
    `What ${service} does where the specification is silent, as voicectl ${version} learned it`,
    `from ${tokens + plain} requests and ${connections} connections. The evidence is above each value.`,
    ...(stopped === undefined
      ? []
      : [`Stopped: ${stopped.message}. Everything not asked by then is missing.`]),
    ...(isUsual ? [] : [`It allows ${rateLimit} token requests per minute: serve --rate-limit ${rateLimit}`]),
  ];
}

/** A line for each setting that is not as the file says. */
export function differenceLines(found: readonly Difference[], { file }: { file: string }): string[] {
  if (found.length === 0) return [`The service does what ${file} says.`];
  return found.map(({ path, expected, found: value, evidence }) =>
    escapeText(`${path}: ${file} says ${show(expected)}, the service ${show(value)} (${evidence})`),
  );
}

/** What the emulator of a learned dialect still answers differently. */
export function comparisonLines(found: readonly Difference[]): string[] {
  if (found.length === 0) return ['An emulator with this dialect answers the same.'];
  return [
    'An emulator with this dialect still answers differently:',
    ...found.map(({ path, expected, found: value }) =>
      escapeText(`  ${path}: ${show(value)} instead of ${show(expected)}`),
    ),
  ];
}

/** A lesson for machines: each setting with its value and evidence, or why it is unknown. */
export function learnObject({ settings, remarks, rateLimit }: Lesson, found?: readonly Difference[]) {
  return {
    version,
    settings: settings.map(({ setting: { path }, learned }) => ({ path, ...learned })),
    remarks,
    rateLimit,
    ...(found === undefined ? {} : { differences: found }),
  };
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : jsonText(value);
}

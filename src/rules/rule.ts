import { isNestedWithin, readableLevels } from '../protocol/parse-json.ts';
import type { Exchange } from '../wire/exchange.ts';

/** What a rule may find, in the order in which it is counted. `skipped`: nothing was asked, or the rule does not apply here. */
export const verdictNames = ['pass', 'fail', 'warn', 'observed', 'unknown', 'skipped'] as const;
export type Verdict = (typeof verdictNames)[number];

/** An exchange as evidence, with its name and facts that the exchange alone does not show. */
export interface Seen {
  /** `E1`, `S3`; of a second try `E1/2`. */
  id: string;
  exchange: Exchange;
  /** Set if the exchange should be refused, for example because of a wrong key. */
  provoked?: boolean;
  /** The service's own time when the exchange began, milliseconds since the epoch, if a better source than `Date` is known. */
  serviceAt?: number | undefined;
  /** Whether a published key verifies the granted token, or why not; undefined without a key. */
  signature?: 'valid' | { refused: string } | undefined;
}

export interface Finding {
  verdict: Verdict;
  /** The observation, in one sentence with the values. */
  message: string;
  /** What to do about it; the message says it too. */
  advice?: string;
  /** Names of the exchanges that show it. */
  evidence: readonly string[];
  /** The exchanges among them that are at fault. Default: all. */
  about?: readonly string[];
  /** If equally severe findings of a rule were merged: each of them. */
  each?: readonly Finding[];
  /** Set if the exchanges allow no other reading: a second try adds nothing. */
  isProof?: true;
  /** For an `unknown`: the message to fail with if an unused device shows the same. */
  suspicion?: string;
}

/** One sentence of the specification, checked against the traffic on the wire. */
export interface Rule {
  id: string;
  /** The section of the specification. */
  section: string;
  /** Short: a row of a list. */
  title: string;
  /** The sentence, in the words of the specification if possible. */
  says: string;
  /** Undefined if none of the exchanges is about the rule. Pure. */
  judge(seen: readonly Seen[]): Finding | undefined;
}

type Evidence = Seen | readonly Seen[];

function find(verdict: Finding['verdict']) {
  return (message: string, evidence: Evidence): Finding => {
    const all = Array.isArray(evidence) ? (evidence as readonly Seen[]) : [evidence as Seen];
    return { verdict, message, evidence: [...new Set(all.map(({ id }) => id))] };
  };
}

export const pass = find('pass');
export const fail = find('fail');
export const warn = find('warn');
export const observed = find('observed');
export const unknown = find('unknown');
export const skipped = find('skipped');

/** The most severe of several findings; equally severe ones become one finding, with the evidence of all. */
export function mostSevere(findings: readonly (Finding | undefined)[]): Finding | undefined {
  const order: readonly Verdict[] = ['fail', 'warn', 'observed', 'pass', 'unknown', 'skipped'];
  const present = findings.filter((finding) => finding !== undefined);
  const worst = order.find((verdict) => present.some((finding) => finding.verdict === verdict));
  const same = present.filter(({ verdict }) => verdict === worst);
  const [first] = same;
  if (first === undefined || same.length === 1) return first;
  const each = same.flatMap((finding) => finding.each ?? [finding]);
  return { ...first, evidence: [...new Set(same.flatMap(({ evidence }) => evidence))], each };
}

const maxValueLength = 60;

/** A value as a message shows it: shortened JSON, or a note if nothing could write it. */
export function show(value: unknown): string {
  if (!isNestedWithin(value, readableLevels)) return '(nested too deeply)';
  const text = JSON.stringify(value) ?? 'missing';
  // Half a character may be left at the end.
  const short = text.slice(0, maxValueLength - 1).replace(/\p{Surrogate}$/u, '');
  return text.length <= maxValueLength ? text : `${short}…`;
}

import { ruleOf } from '../conformance/drill/catalogue.ts';
import type { DrillResult } from '../conformance/drill/drill.ts';
import type { Drilled } from '../conformance/drill/run-situation.ts';
import type { Situation } from '../conformance/drill/situation.ts';
import { version } from '../kernel/version.ts';
import { evidenceJson } from './check-evidence.ts';
import { againLine } from './drill-lines.ts';

/** The verdict on one situation, as a line of JSON. `command`: the device, if the drill starts it. */
export function drilledObject(drilled: Drilled, command: readonly string[]) {
  const { id, situation, rule, title, finding, evidence, elapsedMs, output } = drilled;
  return {
    type: 'drill',
    id,
    situation,
    rule: rule.id,
    title,
    section: rule.section,
    says: rule.says,
    verdict: finding.verdict,
    message: finding.message,
    exchanges: finding.evidence,
    evidence: evidenceJson(evidence),
    output,
    elapsedMs: Math.round(elapsedMs),
    again: againLine(drilled, command),
  };
}

/** The last line. */
export function drillSummaryObject({ verdicts, stopped, exitCode, elapsedMs }: DrillResult) {
  return {
    type: 'summary',
    version,
    verdicts,
    stopped: stopped === undefined ? null : { code: stopped.code, message: stopped.message },
    elapsedMs: Math.round(elapsedMs),
    exitCode,
  };
}

/** One situation of the catalogue. */
export function situationObject({ id, title, tls }: Situation) {
  const { id: rule, section, says } = ruleOf(id);
  return { type: 'situation', id, rule, title, section, says, needsTls: tls !== undefined };
}

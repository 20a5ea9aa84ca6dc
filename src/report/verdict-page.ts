import type { CheckResult } from '../conformance/check.ts';
import type { DrillResult } from '../conformance/drill/drill.ts';
import type { Drilled } from '../conformance/drill/run-situation.ts';
import type { Judged } from '../conformance/judge.ts';
import { isFailed, type RunConclusion } from '../conformance/verdicts.ts';
import { countText } from '../protocol/count-text.ts';
import { secondsText } from '../protocol/time-text.ts';
import type { Verdict } from '../rules/rule.ts';
import { evidenceJson } from './check-evidence.ts';
import { costText, namesText } from './check-lines.ts';
import { addBaseline, type BaselineResult } from './compare-page.ts';
import { againLine, type DrillCommand, evidenceLines, placeOf } from './drill-lines.ts';
import {
  itemSections,
  linesBlock,
  type ReportItem,
  type ReportPage,
  type ReportTone,
  reportPage,
} from './report-page.ts';
import { countsText, messageText, strictText } from './verdict-lines.ts';

export interface CheckPage {
  /** Where the service is, for people. */
  subject: string;
  startedAt: number;
  result: CheckResult;
  baseline?: BaselineResult | undefined;
}

/** The verdicts and their evidence as one page that needs nothing else: no network and no script. */
export function checkPage({ subject, startedAt, result, baseline }: CheckPage): string {
  const { rules, spent, elapsedMs } = result;
  const page = {
    title: `voicectl check ${subject}`,
    heading: `Does ${subject} follow the specification?`,
    verdict: verdictOf(result, rules),
    facts: [
      ['asked', costText(spent)],
      ['took', secondsText(elapsedMs, 1)],
      ['began', new Date(startedAt).toISOString()],
    ],
    body: itemSections(rules.map(itemOfRule), 'rule'),
  } satisfies ReportPage;
  return reportPage(addBaseline(page, baseline));
}

function itemOfRule({ rule, finding, evidence, expected }: Judged): ReportItem {
  const { id, title, says, section } = rule;
  const { verdict } = finding;
  return {
    ...{ id, name: id, title, says, section, verdict },
    tone: expected !== undefined && verdict === 'fail' ? 'note' : verdictTones[verdict],
    message: messageText(finding, expected),
    evidence: {
      names: namesText(finding.evidence),
      details: evidenceJson(evidence).map((one) =>
        linesBlock(JSON.stringify(one, undefined, 1).split('\n'), `Exchange ${one.id} of ${id}`),
      ),
    },
  };
}

export interface DrillPage {
  /** The device, for people. */
  subject: string;
  command: DrillCommand;
  startedAt: number;
  result: DrillResult;
  baseline?: BaselineResult | undefined;
}

const mostLines = 20;

/** What a device did in each situation, as one page that needs nothing else. */
export function drillPage({ subject, command, startedAt, result, baseline }: DrillPage): string {
  const { drilled, elapsedMs } = result;
  const page = {
    title: `voicectl drill ${subject}`,
    heading: `Does ${subject} hold up?`,
    verdict: verdictOf(result, drilled),
    facts: [
      ['situations', String(new Set(drilled.map(({ situation }) => situation)).size)],
      ['took', secondsText(elapsedMs, 1)],
      ['began', new Date(startedAt).toISOString()],
    ],
    body: itemSections(
      drilled.map((one) => itemOfSituation(one, command)),
      'rule',
    ),
  } satisfies ReportPage;
  return reportPage(addBaseline(page, baseline));
}

function itemOfSituation(drilled: Drilled, command: DrillCommand): ReportItem {
  const { id, title, rule, finding } = drilled;
  const place = placeOf(drilled);
  const { verdict, message } = finding;
  const lines = [...evidenceLines(drilled, mostLines), `again: ${againLine(drilled, command)}`];
  return {
    ...{ id: place, name: id, title, verdict, message, says: rule.says, section: rule.section },
    tone: verdictTones[verdict],
    evidence: {
      names: namesText(finding.evidence) || 'what was seen',
      details: [linesBlock(lines, `What was seen in ${place}`)],
    },
  };
}

/** The overall verdict of a run, which agrees with its exit code. A rule may be broken in several situations. */
function verdictOf(
  { verdicts, stopped, exitCode }: RunConclusion & { verdicts: Record<Verdict, number> },
  judged: readonly (Pick<Judged, 'finding' | 'expected'> & { rule: { id: string } })[],
) {
  const counts = countsText(verdicts);
  const broken = new Set(judged.filter((one) => isFailed(one, false)).map(({ rule }) => rule.id)).size;
  if (stopped !== undefined) {
    const why = `Stopped: ${stopped.message}. ${counts}.`;
    return broken > 0
      ? { tone: 'bad' as const, word: 'No', text: why }
      : { tone: 'note' as const, word: 'Unknown', text: why };
  }
  if (exitCode !== 0) {
    const why = broken > 0 ? `${countText(broken, 'rule')} broken` : strictText;
    return { tone: 'bad' as const, word: 'No', text: `${why}: ${counts}.` };
  }
  if (verdicts.fail > 0)
    return {
      tone: 'note' as const,
      word: 'Yes, but',
      text: `Only what is expected to fail is broken: ${counts}.`,
    };
  const isOpen = verdicts.warn + verdicts.unknown > 0;
  return isOpen
    ? {
        tone: 'note' as const,
        word: 'Yes, but',
        text: `No rule is broken, but not everything is clear: ${counts}.`,
      }
    : { tone: 'good' as const, word: 'Yes', text: `No rule is broken: ${counts}.` };
}

/** How a verdict is coloured. */
const verdictTones: Readonly<Record<Verdict, ReportTone>> = {
  pass: 'good',
  fail: 'bad',
  warn: 'note',
  observed: 'muted',
  unknown: 'note',
  skipped: 'muted',
};

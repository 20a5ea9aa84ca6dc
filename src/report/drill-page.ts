import type { DrillResult } from '../conformance/drill/drill.ts';
import type { Drilled } from '../conformance/drill/run-situation.ts';
import { secondsText } from '../protocol/time-text.ts';
import { namesText } from './check-lines.ts';
import { verdictOf, verdictTones } from './check-page.ts';
import { addBaseline, type BaselineResult } from './compare-page.ts';
import { againLine, evidenceLines } from './drill-lines.ts';
import { itemSections, linesBlock, type ReportItem, type ReportPage, reportPage } from './report-page.ts';

export interface DrillPage {
  /** The device, for people. */
  subject: string;
  /** The command that is the device; empty if it connects by itself. */
  device: readonly string[];
  startedAt: number;
  result: DrillResult;
  baseline?: BaselineResult | undefined;
}

const mostLines = 20;

/** What a device did in each situation, as one page that needs nothing else. */
export function drillPage({ subject, device, startedAt, result, baseline }: DrillPage): string {
  const { drilled, elapsedMs } = result;
  const page = {
    title: `voicectl drill ${subject}`,
    heading: `Does ${subject} hold up?`,
    verdict: verdictOf(result, 'situation'),
    facts: [
      ['situations', String(drilled.length)],
      ['took', secondsText(elapsedMs, 1)],
      ['began', new Date(startedAt).toISOString()],
    ],
    body: itemSections(
      drilled.map((one) => itemOf(one, device)),
      'situation',
    ),
  } satisfies ReportPage;
  return reportPage(addBaseline(page, baseline));
}

function itemOf(drilled: Drilled, device: readonly string[]): ReportItem {
  const { id, situation, title, rule, finding } = drilled;
  // A rule may be broken beside several situations.
  const place = id === situation ? id : `${situation}-${id}`;
  const { verdict, message } = finding;
  const lines = [...evidenceLines(drilled, mostLines), `again: ${againLine(drilled, device)}`];
  return {
    ...{ id: place, name: id, title, verdict, message, says: rule.says, section: rule.section },
    tone: verdictTones[verdict],
    evidence: {
      names: namesText(finding.evidence) || 'what was seen',
      details: [linesBlock(lines, `What was seen in ${place}`)],
    },
  };
}

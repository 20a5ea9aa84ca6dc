import type { CheckResult } from '../conformance/check.ts';
import type { Judged } from '../conformance/judge.ts';
import { version } from '../kernel/version.ts';
import { secondsText } from '../protocol/time-text.ts';
import { evidenceJson } from './check-evidence.ts';
import { costText } from './check-lines.ts';
import { reportDocument } from './document.ts';
import { type Html, html, trusted } from './html.ts';

/** Inlined, so that the page needs nothing else. */
const style = `
td, th { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0 }
td:first-child { white-space: nowrap; font-weight: 600 }
.verdict { white-space: nowrap; font-weight: 600 } .skipped { opacity: .65 }
.says { opacity: .75 } body { overflow-wrap: anywhere }
pre { overflow: auto; max-height: 24rem; font-size: .8rem } summary { cursor: pointer }
`;

export interface CheckPage {
  /** Where the service is, for people. */
  subject: string;
  startedAt: number;
  result: CheckResult;
}

/** The verdicts and their evidence as one page that needs nothing else: no network and no script. */
export function checkPage({ subject, startedAt, result }: CheckPage): string {
  const { rules, verdicts, spent, stopped, elapsedMs } = result;
  const counts = Object.entries(verdicts).filter(([, count]) => count > 0);
  const bad = rules.filter(({ finding }) => finding.verdict === 'fail' || finding.verdict === 'warn');
  const body = html`<h1>Does ${subject} keep the specification?</h1>
<p>${counts.map(([verdict, count]) => html`<strong class="${verdict}">${count} ${verdict}</strong> `)}</p>
${stopped === undefined ? '' : html`<p class="fail">Stopped: ${stopped.message}</p>`}
${bad.length === 0 ? '' : html`<ul>${bad.map(badLine)}</ul>`}
<p>${costText(spent)} in ${secondsText(elapsedMs, 1)}, from ${new Date(startedAt).toISOString()} on.</p>
<table>
<thead><tr><th>Rule</th><th>Verdict</th><th>What the specification says, and what was seen</th></tr></thead>
<tbody>
${rules.map(ruleRow)}
</tbody>
</table>
<footer><p><small>Made by voicectl ${version}. Keys and tokens are not in this page.</small></p></footer>`;
  return reportDocument({ title: `voicectl check ${subject}`, style, body });
}

function badLine({ rule, finding }: Judged): Html {
  return html`<li class="${finding.verdict}"><a href="#${rule.id}">${rule.id}</a> ${rule.title}: ${finding.message}</li>\n`;
}

function ruleRow({ rule, finding, evidence, expected }: Judged): Html {
  const details = evidenceJson(evidence);
  return html`<tr id="${rule.id}"><td>${rule.id}</td><td class="verdict ${finding.verdict}">${finding.verdict}</td><td>
<strong>${rule.title}</strong> <small>${rule.section}</small>
<div class="says">${rule.says}</div>
<div>${finding.message}${expected === undefined ? '' : html` <em>(expected: ${expected})</em>`}</div>
${details.length === 0 ? '' : html`<details><summary>${finding.evidence.join(' ')}</summary>${details.map(exchangeBlock)}</details>`}
</td></tr>
`;
}

function exchangeBlock(exchange: object): Html {
  // Lines of the page's own making; each is escaped as text.
  const lines = JSON.stringify(exchange, undefined, 1).split('\n');
  return html`<pre>${lines.map((line) => html`${line}${trusted('\n')}`)}</pre>`;
}

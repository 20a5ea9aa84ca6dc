import { version } from '../kernel/version.ts';
import { countText } from '../protocol/count-text.ts';
import { type Html, html, reportDocument, trustedMarkup } from './html.ts';

/** How something went, as a colour. */
export type ReportTone = 'good' | 'bad' | 'note' | 'muted';

export interface ReportPage {
  /** The command and its subject: the title of the window. */
  title: string;
  /** What was asked, as a heading. */
  heading: string;
  /** The answer. It is the first thing on the page. */
  verdict: { tone: ReportTone; word: string; text: string };
  facts: readonly (readonly [name: string, value: string])[];
  body: Html;
  /** Shown at the foot, beside the version. */
  remark?: string;
  /** Added to the style that all reports share. */
  style?: string;
}

/** A report as one page that needs nothing else: the verdict first, then what failed, then the rest, folded. */
export function reportPage({ title, heading, verdict, facts, body, remark, style = '' }: ReportPage): string {
  return reportDocument({
    title,
    style,
    body: html`<main>
<header class="verdict ${verdict.tone}"><p class="word">${verdict.word}</p><div><h1>${breakable(heading)}</h1>
<p>${verdict.text}</p></div></header>
<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${body}
<footer><p><small>Made by voicectl ${version}. This page contains no keys and no tokens.${remark === undefined ? '' : ` ${remark}`}</small></p></footer>
</main>`,
  });
}

/** One thing that was judged. */
export interface ReportItem {
  /** Its anchor on the page. */
  id: string;
  /** Its name, if it has one besides its title: `R12`. */
  name?: string;
  title: string;
  tone: ReportTone;
  /** One word: `fail`. */
  verdict: string;
  message: string;
  /** What was required, in full, and where that is written. */
  says?: string | undefined;
  section?: string | undefined;
  /** The evidence: the names of the exchanges, and the exchanges. */
  evidence?: { names: string; details: readonly Html[] } | undefined;
}

/** What went wrong is open, with its evidence; the rest is folded. */
export function itemSections(items: readonly ReportItem[], noun: string): Html {
  const isOpen = ({ tone }: ReportItem) => tone === 'bad' || tone === 'note';
  const bad = items.filter(isOpen).toSorted((a, b) => Number(b.tone === 'bad') - Number(a.tone === 'bad'));
  const fine = items.filter((one) => !isOpen(one) && one.verdict !== 'skipped');
  const skipped = items.filter((one) => !isOpen(one) && one.verdict === 'skipped');
  return html`${
    bad.length === 0
      ? ''
      : html`<h2>What to look at</h2>${bad.map((one) => itemCard(one, { isOpen: one.tone === 'bad' }))}`
  }
${foldedItems(fine, `${countText(fine.length, noun)} passed`)}
${foldedItems(skipped, `${countText(skipped.length, noun)} ${skipped.length === 1 ? 'was' : 'were'} skipped`)}`;
}

function foldedItems(items: readonly ReportItem[], summary: string): Html {
  if (items.length === 0) return html``;
  return html`<details class="fold"><summary><h2>${summary}</h2></summary>
${items.map((one) => itemCard(one, { isOpen: false }))}</details>`;
}

function itemCard(
  { id, name, title, tone, verdict, message, says, section, evidence }: ReportItem,
  { isOpen }: { isOpen: boolean },
): Html {
  return html`<article class="item ${tone}" id="${id}"><h3>${name === undefined ? '' : html`<b class="id">${name}</b> `}<span>${title}</span> <b class="kind">${verdict}</b></h3>
${message === '' ? '' : html`<p>${message}</p>`}
${says === undefined ? '' : html`<p class="says">${says}${section === undefined ? '' : html` <small>(${section})</small>`}</p>`}
${evidence === undefined || evidence.details.length === 0 ? '' : html`<details${isOpen ? trustedMarkup(' open') : ''}><summary>${evidence.names}</summary>${evidence.details}</details>`}
</article>
`;
}

/** Lines as they are; each is escaped as text. */
export function linesBlock(lines: readonly string[], label: string): Html {
  return html`<pre tabindex="0" role="region" aria-label="${label}">${lines.map((line) => html`${breakable(line)}${trustedMarkup('\n')}`)}</pre>`;
}

/** Shorter lines fit the narrowest page. */
const longLine = 40;

/** Lets a line without spaces break after a sign, but not within a word. */
function breakable(line: string): Html {
  if (line.length <= longLine) return html`${line}`;
  return html`${line.split(/(?<=[,:;/{}()&?=._-])/).map((part, index) => (index === 0 ? part : html`<wbr>${part}`))}`;
}

/** A table that scrolls on its own if the page is narrow. */
export function wideTable(
  label: string,
  head: readonly (string | Html)[],
  rows: readonly (readonly (string | number | Html)[])[],
  kind: 'text' | 'figures' = 'text',
): Html {
  return html`<div class="wide" tabindex="0" role="region" aria-label="${label}"><table class="${kind}">
${head.length === 0 ? '' : html`<thead><tr>${head.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>`}<tbody>
${rows.map((cells) => html`<tr>${cells.map((cell, index) => (index === 0 ? html`<th scope="row">${cell}</th>` : html`<td>${cell}</td>`))}</tr>\n`)}</tbody></table></div>`;
}

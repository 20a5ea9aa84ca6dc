import { version } from '../kernel/version.ts';
import type { FigureChange, ItemChange, RunComparison } from '../runs/compare/compare-runs.ts';
import { comparisonText, figureCells, figureHead, itemText, markText, sideText } from './compare-lines.ts';
import { reportDocument } from './document.ts';
import { type Html, html } from './html.ts';

/** Inlined, so that the page needs nothing else. */
const style = `
td, th { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; font-variant-numeric: tabular-nums }
.scroll { overflow-x: auto } .mark { font-weight: 600; white-space: nowrap } summary { cursor: pointer }
body { overflow-wrap: anywhere } .figure { white-space: nowrap }
`;

/** A comparison as one page that needs nothing else: the verdict, what got worse open, what did not folded. */
export function comparisonPage(comparison: RunComparison): string {
  const { a, b, verdict } = comparison;
  const body = html`<h1>Did it get worse?</h1>
<p class="${classOf(verdict)}"><strong>${markText(verdict)}</strong>: ${comparisonText(comparison)}.</p>
<p>Before: ${sideText(a)}<br>Now: ${sideText(b)}</p>
${comparisonTables(comparison)}
<footer><p><small>Made by voicectl ${version}. Keys and tokens are not in this page.</small></p></footer>`;
  return reportDocument({ title: `voicectl compare ${a.name} ${b.name}`, style, body });
}

function comparisonTables({ invalid, figures, items, unchanged }: RunComparison): Html {
  const isOpen = ({ change }: FigureChange | ItemChange) => change === 'worse' || change === 'changed';
  const [open, folded] = [figures.filter(isOpen), figures.filter((one) => !isOpen(one))];
  const [openItems, foldedItems] = [items.filter(isOpen), items.filter((one) => !isOpen(one))];
  const others = folded.length + foldedItems.length;
  return html`
${invalid.map((why) => html`<p class="fail"><strong>Not valid:</strong> ${why}</p>`)}
${figureTable(open)}${itemTable(openItems)}
${others === 0 ? '' : html`<details${open.length + openItems.length === 0 ? html` open` : ''}><summary>${others} that did not get worse</summary>${figureTable(folded)}${itemTable(foldedItems)}</details>`}
${unchanged === 0 ? '' : html`<p>${unchanged} as before.</p>`}`;
}

function figureTable(figures: readonly FigureChange[]): Html | undefined {
  if (figures.length === 0) return undefined;
  return html`<div class="scroll"><table><thead><tr><th></th>${figureHead.map((name) => html`<th>${name}</th>`)}</tr></thead><tbody>
${figures.map((figure) => html`<tr><td class="mark ${classOf(figure.change)}">${markText(figure.change)}</td>${figureCells(figure).map((cell) => html`<td class="figure">${cell}</td>`)}</tr>`)}
</tbody></table></div>`;
}

function itemTable(items: readonly ItemChange[]): Html | undefined {
  if (items.length === 0) return undefined;
  return html`<div class="scroll"><table><thead><tr><th></th><th>what</th><th>change</th><th>what was seen</th></tr></thead><tbody>
${items.map((item) => html`<tr><td class="mark ${classOf(item.change)}">${markText(item.change)}</td><td>${item.id} ${item.title}</td><td>${itemText(item)}</td><td>${item.message}</td></tr>`)}
</tbody></table></div>`;
}

function classOf(verdict: RunComparison['verdict']): string {
  if (verdict === 'better' || verdict === 'same') return 'pass';
  return verdict === 'unknown' ? 'note' : 'fail';
}

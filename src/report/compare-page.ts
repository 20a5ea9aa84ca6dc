import type { FigureChange, ItemChange, RunComparison } from '../runs/compare/compare-runs.ts';
import { comparisonText, figureCells, figureHead, itemText, markText, sideText } from './compare-lines.ts';
import { type Html, html } from './html.ts';
import { type ReportTone, reportPage, wideTable } from './report-page.ts';

/** A comparison as one page that needs nothing else: the verdict, what got worse open, what did not folded. */
export function comparisonPage(comparison: RunComparison): string {
  const { a, b, verdict } = comparison;
  return reportPage({
    title: `voicectl compare ${a.name} ${b.name}`,
    heading: 'Did it get worse?',
    verdict: { tone: toneOf(verdict), word: markText(verdict), text: `${comparisonText(comparison)}.` },
    facts: [
      ['before', sideText(a)],
      ['now', sideText(b)],
    ],
    body: comparisonTables(comparison),
  });
}

function comparisonTables({ verdict, invalid, figures, items, unchanged }: RunComparison): Html {
  const isOpen = ({ change }: FigureChange | ItemChange) => change === 'worse' || change === 'changed';
  const [open, folded] = [figures.filter(isOpen), figures.filter((one) => !isOpen(one))];
  const [openItems, foldedItems] = [items.filter(isOpen), items.filter((one) => !isOpen(one))];
  const others = folded.length + foldedItems.length;
  return html`
${invalid.map((why) => html`<p class="bad-text"><strong>Not valid:</strong> ${why}</p>`)}
${figureTable(open)}${itemTable(openItems)}
${others === 0 ? '' : html`<details class="fold"${open.length + openItems.length === 0 ? html` open` : ''}><summary><h2>${others} that ${verdict === 'not valid' ? 'were not judged' : 'did not get worse'}</h2></summary>${figureTable(folded)}${itemTable(foldedItems)}</details>`}
${unchanged === 0 ? '' : html`<p>${unchanged} as before.</p>`}`;
}

function figureTable(figures: readonly FigureChange[]): Html | undefined {
  if (figures.length === 0) return undefined;
  return wideTable(
    'Figures',
    ['change', ...figureHead],
    figures.map((figure) => [mark(figure.change), ...figureCells(figure)]),
    'figures',
  );
}

function itemTable(items: readonly ItemChange[]): Html | undefined {
  if (items.length === 0) return undefined;
  return wideTable(
    'Verdicts',
    ['change', 'what', 'from and to', 'what was seen'],
    items.map((item) => [mark(item.change), `${item.id} ${item.title}`, itemText(item), item.message]),
  );
}

function mark(change: RunComparison['verdict'] | FigureChange['change'] | ItemChange['change']): Html {
  return html`<span class="${toneOf(change)}-text">${markText(change)}</span>`;
}

function toneOf(
  verdict: RunComparison['verdict'] | FigureChange['change'] | ItemChange['change'],
): ReportTone {
  if (verdict === 'better' || verdict === 'same') return 'good';
  return verdict === 'unknown' ? 'note' : 'bad';
}

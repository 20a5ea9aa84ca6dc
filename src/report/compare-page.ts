import { countText } from '../protocol/count-text.ts';
import type { Change, FigureChange, ItemChange, RunComparison } from '../runs/compare/compare-runs.ts';
import {
  comparisonText,
  figureCells,
  figureHead,
  itemText,
  markText,
  sideText,
  toneOf,
} from './compare-lines.ts';
import { type Html, html } from './html.ts';
import { type ReportPage, reportPage, wideTable } from './report-page.ts';

/** A comparison as one page that needs nothing else: the verdict, then what got worse, then the rest, folded. */
export function comparisonPage(comparison: RunComparison): string {
  const { kind, a, b } = comparison;
  return reportPage({
    title: `voicectl compare ${a.name} ${b.name}`,
    heading: kind === 'dialect' ? 'Do they differ?' : 'Did it get worse?',
    verdict: { ...verdictOf(comparison), text: `${comparisonText(comparison)}.` },
    facts: [
      ['before', sideText(a)],
      ['now', sideText(b)],
    ],
    body: comparisonTables(comparison),
  });
}

/** What the page of a run shows about its baseline: the comparison, or why there is none. */
export type BaselineResult = { comparison: RunComparison } | { why: string; isFailure: boolean };

/**
 * The page of a run with its comparison: the verdict is the worse of both, and the tables are first unless the run itself
 * has failed.
 */
export function addBaseline(page: ReportPage, result: BaselineResult | undefined): ReportPage {
  if (result === undefined) return page;
  const { verdict, facts, body } = page;
  const found =
    'comparison' in result
      ? { ...verdictOf(result.comparison), text: `${comparisonText(result.comparison)}.` }
      : {
          tone: toneOf(result.isFailure ? 'worse' : 'unknown'),
          word: 'Not compared',
          text: `${result.why}.`,
        };
  const isWorst = found.tone === 'bad' && verdict.tone !== 'bad';
  const section = html`<section><h2>Did it get worse?</h2>
<p><strong class="${found.tone}-text">${found.word}:</strong> ${found.text}</p>
${'comparison' in result ? comparisonTables(result.comparison, { isPart: true }) : ''}</section>`;
  return {
    ...page,
    verdict: isWorst
      ? { ...found, text: `Compared with the baseline: ${found.text} ${verdict.text}` }
      : { ...verdict, text: `${verdict.text} Compared with the baseline: ${found.text}` },
    facts: 'comparison' in result ? [...facts, ['baseline', sideText(result.comparison.a)]] : facts,
    body: verdict.tone === 'bad' ? html`${body}\n${section}` : html`${section}\n${body}`,
  };
}

function verdictOf({ verdict }: RunComparison): Pick<ReportPage['verdict'], 'tone' | 'word'> {
  const word = verdict === 'not valid' ? 'Not valid' : markText(verdict).toLowerCase();
  return { tone: toneOf(verdict), word: `${word[0]?.toUpperCase()}${word.slice(1)}` };
}

/** `isPart`: it is part of another page, where the rest is folded even if nothing got worse. */
function comparisonTables(
  { kind, verdict, invalid, figures, items, unchanged }: RunComparison,
  { isPart = false } = {},
): Html {
  const isOpen = ({ change }: FigureChange | ItemChange) => toneOf(change) === 'bad';
  const [open, folded] = [figures.filter(isOpen), figures.filter((one) => !isOpen(one))];
  const [openItems, foldedItems] = [items.filter(isOpen), items.filter((one) => !isOpen(one))];
  const others = folded.length + foldedItems.length;
  const isGood = toneOf(verdict) === 'good';
  const isShown = isPart ? !isGood && verdict !== 'worse' : open.length + openItems.length === 0;
  const labels =
    kind === 'dialect'
      ? { open: 'Settings that differ', folded: 'Other settings' }
      : { open: 'Verdicts that got worse', folded: 'Other verdicts' };
  const hasUnknown = [...folded, ...foldedItems].some(({ change }) => change === 'unknown');
  const unlike = `did not get worse${hasUnknown ? ' or cannot be judged' : ''}`;
  const rest =
    kind === 'dialect'
      ? countText(others, 'other setting')
      : `${others} that ${verdict === 'not valid' ? 'were not judged' : unlike}`;
  return html`
${invalid.map((why) => html`<p class="bad-text"><strong>Not valid:</strong> ${why}</p>`)}
${figureTable(open, 'What got worse')}${itemTable(openItems, labels.open)}
${others === 0 ? '' : html`<details class="fold"${isShown ? html` open` : ''}><summary><h2>${rest}</h2></summary>${figureTable(folded, 'Other figures')}${itemTable(foldedItems, labels.folded)}</details>`}
${unchanged === 0 ? '' : html`<p>${unchanged} as before.</p>`}`;
}

function figureTable(figures: readonly FigureChange[], label: string): Html | undefined {
  if (figures.length === 0) return undefined;
  return wideTable(
    label,
    ['change', ...figureHead],
    figures.map((figure) => [mark(figure.change), ...figureCells(figure)]),
    'figures',
  );
}

function itemTable(items: readonly ItemChange[], label: string): Html | undefined {
  if (items.length === 0) return undefined;
  return wideTable(
    label,
    ['change', 'what', 'from and to', 'what was seen'],
    items.map((item) => [mark(item.change), `${item.id} ${item.title}`, itemText(item), item.message]),
  );
}

function mark(change: Change): Html {
  return html`<span class="${toneOf(change)}-text">${markText(change)}</span>`;
}

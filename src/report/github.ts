import { escapeText } from '../kernel/escape.ts';
import type { Block, Marked, RunReport } from './run-report.ts';

/** GitHub shows at most ten annotations per step. */
export const maxAnnotations = 10;

/** Workflow commands that annotate each failure, one per line. */
export function githubAnnotations({ failures }: RunReport): string[] {
  return failures.slice(0, maxAnnotations).map(({ title, message }) => annotation(title, message));
}

/** Escaped like in GitHub's toolkit: text from a service must not become a command. */
function annotation(title: string, message: string): string {
  const data = (text: string) => escapeText(text).replaceAll('%', '%25');
  const property = (text: string) => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return `::error title=${property(`voicectl ${title}`)}::${data(message)}`;
}

/** The run as Markdown, for the page of the workflow's run. */
export function githubStepSummary({ name, suites, failures, blocks }: RunReport): string {
  const mark = failures.length === 0 && suites.length > 0 ? '✅' : '❌';
  return `${[`### ${mark} voicectl ${plainText(name)}`, ...blocks.map(blockText)].join('\n\n')}\n`;
}

function blockText(block: Block): string {
  if (!('head' in block)) return block.map(markedText).join('');
  const line = (cells: readonly Marked[]) => `| ${cells.map(markedText).join(' | ')} |`;
  const { head, rows } = block;
  return [line(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

function markedText(marked: Marked): string {
  return typeof marked === 'string' ? plainText(marked) : `**${plainText(marked.strong)}**`;
}

/** Text that Markdown shows unchanged: all its punctuation is escaped. */
function plainText(raw: string): string {
  return escapeText(raw).replace(/[\\`*_{}[\]<>#|!~&]/g, '\\$&');
}

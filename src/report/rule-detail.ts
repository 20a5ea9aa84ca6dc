import type { Judged } from '../conformance/judge.ts';
import { curlLine, exchangeLine, maxExchanges } from './check-evidence.ts';
import { wrapText } from './verdict-lines.ts';

/** A rule in full, for a panel: what the specification says, what was seen, and how to see it again. */
export function ruleDetail({ rule, finding, evidence, expected }: Judged): string[] {
  const exchanges = evidence.slice(0, maxExchanges).flatMap((seen) => {
    const { exchange } = seen;
    const again = exchange.kind === 'token' ? wrapText(curlLine(exchange.request)) : [];
    return ['', ...wrapText(`${seen.id}: ${exchangeLine(seen)}`), ...again.map((line) => `  ${line}`)];
  });
  return [
    ...wrapText(rule.says),
    ...wrapText(`(${rule.section})`),
    '',
    ...wrapText(`${finding.verdict}: ${finding.message}`),
    ...(expected === undefined ? [] : wrapText(`expected: ${expected}`)),
    ...exchanges,
    ...(evidence.length > maxExchanges ? ['', `and ${evidence.length - maxExchanges} more`] : []),
  ];
}

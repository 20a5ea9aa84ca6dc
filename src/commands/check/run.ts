import { type CheckResult, checkService, rulesIn } from '../../conformance/check.ts';
import type { Judged } from '../../conformance/judge.ts';
import { planRun } from '../../conformance/plan.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { curlLine, exchangeLine, maxExchanges } from '../../report/check-evidence.ts';
import { checkSummaryLines, checkSummaryObject, ruleLines, ruleObject } from '../../report/check-lines.ts';
import { expectedText, messageText, wrapText } from '../../report/verdict-lines.ts';
import type { ContextOf } from '../command.ts';
import { followSteps, openExchanges, printPlan, scopeOf, subjectName } from '../conformance/exchanges.ts';
import { runVerdicts } from '../conformance/run-verdicts.ts';
import { findRule, readInputs } from './inputs.ts';

export async function run(context: ContextOf<'check'>): Promise<number> {
  const { settings, style, verbose } = context;
  if (settings.again !== undefined) {
    const { runAgain } = await import('./again.ts');
    return runAgain(context, { id: settings.again, inputs: () => readInputs(context) });
  }
  const scope = scopeOf(context, rulesOf(context));
  if (settings.dryRun) {
    await printPlan(context, scope);
    return 0;
  }
  const subject = subjectName(context);
  const strict = settings.strict === true;
  return runVerdicts<Judged, CheckResult>(context, { command: 'check', subject }, async () => {
    const inputs = await readInputs(context);
    const { options, close } = await openExchanges(context, scope);
    return {
      ...{ what: 'rules', items: rulesIn(scope), close },
      hold: ({ show, judged }, signal) =>
        checkService({
          ...options,
          ...inputs,
          ...followSteps(planRun(scope), { ...context, show }),
          ...{ signal, strict, onJudged: judged },
        }),
      row({ rule: { id, title }, finding, expected }) {
        return { id, title, verdict: finding.verdict, message: messageText(finding, expected) };
      },
      lines: (judged) => ruleLines(judged, style, verbose),
      detail: ruleDetail,
      object: ruleObject,
      judgedIn: ({ rules }) => rules,
      summaryLines: (result) => checkSummaryLines(result, style),
      summaryObject: checkSummaryObject,
      async report(result, startedAt) {
        const { checkReport } = await import('../../report/verdict-report.ts');
        return checkReport({ subject, startedAt, result, strict });
      },
      async page(result, startedAt, baseline) {
        const { checkPage } = await import('../../report/verdict-page.ts');
        return checkPage({ subject, startedAt, result, baseline });
      },
    };
  });
}

/** The rules of `--rule`. Throws `usage` for one that does not exist. */
function rulesOf({ settings }: ContextOf<'check'>): string[] {
  const refuse = (what: string) => new VoicectlError('usage', `--rule: ${what}`);
  return settings.rule.map((id) => findRule(id, refuse));
}

/** A rule in full, for a panel: what the specification says, what was seen, and how to reproduce it. */
function ruleDetail({ rule, finding, evidence, expected }: Judged): string[] {
  const meaning = expectedText(finding.verdict, expected);
  const exchanges = evidence.slice(0, maxExchanges).flatMap((seen) => {
    const { exchange } = seen;
    const again = exchange.kind === 'token' ? wrapText(curlLine(exchange)) : [];
    return ['', ...wrapText(`${seen.id}: ${exchangeLine(seen)}`), ...again.map((line) => `  ${line}`)];
  });
  return [
    ...wrapText(rule.says),
    ...wrapText(`(${rule.section})`),
    '',
    ...wrapText(`${finding.verdict}: ${finding.message}`),
    ...(meaning === undefined ? [] : wrapText(meaning)),
    ...exchanges,
    ...(evidence.length > maxExchanges ? ['', `and ${evidence.length - maxExchanges} more`] : []),
  ];
}

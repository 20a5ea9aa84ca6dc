import { readTrusted } from '../../config/trusted.ts';
import { type CheckOptions, type CheckResult, checkService, rulesIn } from '../../conformance/check.ts';
import { findRule, readExpected } from '../../conformance/expected.ts';
import type { Judged } from '../../conformance/judge.ts';
import { readKeySet } from '../../conformance/jwks.ts';
import { planRun } from '../../conformance/plan.ts';
import { readText } from '../../files/read-text.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { isSafeTransport } from '../../protocol/loopback.ts';
import { curlLine, exchangeLine, maxExchanges } from '../../report/check-evidence.ts';
import { checkSummaryObject, ruleObject } from '../../report/check-json.ts';
import { checkSummaryLines, ruleLines } from '../../report/check-lines.ts';
import { wrapText } from '../../report/verdict-lines.ts';
import { sendRequest } from '../../wire/client/http.ts';
import { followSteps, openExchanges, printPlan, scopeOf, subjectName } from '../conformance/exchanges.ts';
import { runVerdicts } from '../conformance/run-verdicts.ts';
import type { CheckContext } from './spec.ts';

export async function run(context: CheckContext): Promise<number> {
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
        const message =
          expected === undefined ? finding.message : `${finding.message} (expected: ${expected})`;
        return { id, title, verdict: finding.verdict, message };
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
        const { checkPage } = await import('../../report/check-page.ts');
        return checkPage({ subject, startedAt, result, baseline });
      },
    };
  });
}

/** The rules that are asked for. Throws `usage` for one that does not exist. */
function rulesOf({ settings }: CheckContext): string[] {
  const refuse = (what: string) => new VoicectlError('usage', `--rule: ${what}`);
  return settings.rule.map((id) => findRule(id, refuse));
}

/** What a check reads at the start: known failures and published keys. */
async function readInputs(context: CheckContext): Promise<Pick<CheckOptions, 'expected' | 'verify'>> {
  const { settings, io, signal } = context;
  const { expected, jwks } = settings;
  const input = { stdin: io.stdin, signal };
  return {
    ...(expected === undefined ? {} : { expected: readExpected(await readText(expected, input), expected) }),
    ...(jwks === undefined ? {} : { verify: readKeySet(await readKeys(jwks, context), jwks) }),
  };
}

/** The key set in a file or at an address, which is reached as the service is. */
async function readKeys(place: string, { settings, io, signal }: CheckContext): Promise<string> {
  const input = { stdin: io.stdin, signal };
  if (!/^https?:\/\//i.test(place)) return readText(place, input);
  if (!settings.allowPlaintext && !isSafeTransport(place)) {
    const { host } = new URL(place);
    throw new VoicectlError('insecure-target', `Refusing to read the keys of ${host} over plain HTTP`, {
      hint: 'Someone on the network could replace them. Use https, a file, or --allow-plaintext if the network is trusted.',
    });
  }
  const request = { method: 'GET', url: place, headers: [], body: '' };
  const ca = await readTrusted(settings.ca, input);
  const { answer, failure } = await sendRequest(request, { clock: io.clock, signal, ca });
  if (failure !== undefined) throw failure;
  if (answer?.status === 200) return answer.body;
  throw new VoicectlError('bad-input', `No key set at ${place}: it answered ${answer?.status}`);
}

/** A rule in full, for a panel: what the specification says, what was seen, and how to see it again. */
function ruleDetail({ rule, finding, evidence, expected }: Judged): string[] {
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
    ...(expected === undefined ? [] : wrapText(`expected: ${expected}`)),
    ...exchanges,
    ...(evidence.length > maxExchanges ? ['', `and ${evidence.length - maxExchanges} more`] : []),
  ];
}

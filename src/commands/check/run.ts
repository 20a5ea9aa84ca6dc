import { compactVerify, createLocalJWKSet } from 'jose';
import { isWebAddress } from '../../config/parse.ts';
import { readTrusted } from '../../config/target.ts';
import { type CheckOptions, type CheckResult, checkService, rulesIn } from '../../conformance/check.ts';
import type { Judged } from '../../conformance/judge.ts';
import { planRun } from '../../conformance/plan.ts';
import { readText } from '../../files/read-text.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { concealUrl } from '../../kernel/secret-fields.ts';
import { isRecord } from '../../protocol/error-body.ts';
import { isSafeTransport } from '../../protocol/loopback.ts';
import { parseJson } from '../../protocol/parse-json.ts';
import { curlLine, exchangeLine, maxExchanges } from '../../report/check-evidence.ts';
import { checkSummaryLines, checkSummaryObject, ruleLines, ruleObject } from '../../report/check-lines.ts';
import { expectedText, messageText, wrapText } from '../../report/verdict-lines.ts';
import { serviceRules } from '../../rules/catalogue.ts';
import { sendRequest } from '../../wire/client/http.ts';
import type { ContextOf } from '../command.ts';
import { followSteps, openExchanges, printPlan, scopeOf, subjectName } from '../conformance/exchanges.ts';
import { runVerdicts } from '../conformance/run-verdicts.ts';

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

/** The files that a check reads at the start: known failures and published keys. */
async function readInputs(context: ContextOf<'check'>): Promise<Pick<CheckOptions, 'expected' | 'verify'>> {
  const { expected, jwks } = context.settings;
  return {
    ...(expected === undefined
      ? {}
      : { expected: readExpected(await readText(expected, context), expected) }),
    ...(jwks === undefined ? {} : { verify: readKeySet(await readKeys(jwks, context), jwks) }),
  };
}

/**
 * Rules that are known to fail: one ID per line, followed by the reason. Empty lines and those that begin with `#` are
 * ignored. Throws `bad-input` for an id that no rule has, or one without a reason.
 */
function readExpected(text: string, file: string): Map<string, string> {
  const expected = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    const [id = '', ...reason] = line.trim().split(/\s+/);
    if (id === '' || id.startsWith('#')) continue;
    const refuse = (what: string) => new VoicectlError('bad-input', `${file}, line ${index + 1}: ${what}`);
    expected.set(findRule(id, refuse), reason.join(' '));
    if (reason.length === 0) throw refuse(`${id} has no reason`);
  }
  return expected;
}

/** The id of a rule in the form of the catalogue. Throws the error that `refuse` makes. */
function findRule(id: string, refuse: (what: string) => Error): string {
  const rule = serviceRules.find((one) => one.id.toLowerCase() === id.toLowerCase());
  if (rule === undefined) throw refuse(`there is no rule ${id}; rules are R1 to R${serviceRules.length}`);
  return rule.id;
}

/** The key set in a file or at an address, which is reached as the service is. */
async function readKeys(place: string, context: ContextOf<'check'>): Promise<string> {
  const { settings, io, signal } = context;
  if (!isWebAddress(place)) return readText(place, context);
  if (!settings.allowPlaintext && !isSafeTransport(place)) {
    const { host } = new URL(place);
    throw new VoicectlError('insecure-target', `Refusing to read the keys of ${host} over plain HTTP`, {
      hint: 'Someone on the network could replace them. Use https, a file, or --allow-plaintext if the network is trusted.',
    });
  }
  const request = { method: 'GET', url: place, headers: [], body: '' };
  const ca = await readTrusted(settings.ca, context);
  const { answer, failure } = await sendRequest(request, { clock: io.clock, signal, ca });
  if (failure !== undefined) throw failure;
  if (answer?.status === 200) return answer.body;
  throw new VoicectlError('bad-input', `No key set at ${concealUrl(place)}: it answered ${answer?.status}`);
}

/** Reads a JWK Set (RFC 7517). Throws `bad-input` if the text is not one. */
function readKeySet(text: string, place: string): NonNullable<CheckOptions['verify']> {
  const keys = createSet(text, place);
  return async (token) => {
    try {
      await compactVerify(token, keys);
      return 'valid';
    } catch (thrown) {
      return { refused: (thrown as Error).message };
    }
  };
}

function createSet(text: string, place: string) {
  const name = isWebAddress(place) ? concealUrl(place) : place;
  const refuse = (why: string) => new VoicectlError('bad-input', `No key set in ${name}: ${why}`);
  // Never an excerpt, as errors of a parser have: it may be a private key.
  const set = parseJson(text);
  if (set === undefined) throw refuse('it is not JSON');
  if (!isRecord(set) || !Array.isArray(set.keys) || set.keys.length === 0)
    throw refuse('it contains no keys');
  try {
    return createLocalJWKSet({ keys: set.keys });
  } catch {
    throw refuse('its keys are not JSON Web Keys');
  }
}

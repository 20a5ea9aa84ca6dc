import { type CheckOptions, type CheckResult, checkService } from '../../conformance/check.ts';
import { findRule } from '../../conformance/expected.ts';
import { planRun } from '../../conformance/plan.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { jsonLine } from '../../kernel/escape.ts';
import { createRedactor } from '../../kernel/redact.ts';
import { checkSummaryObject, planObject, ruleObject } from '../../report/check-json.ts';
import { checkSummaryLines, planLines, ruleLines } from '../../report/check-lines.ts';
import { type OpenSubject, openSubject } from '../conformance/open-subject.ts';
import { createProgress } from '../conformance/progress.ts';
import { scopeOf } from '../conformance/scope.ts';
import type { CheckContext } from './context.ts';
import { readInputs } from './read-inputs.ts';
import { writeReports } from './write-reports.ts';

export async function run(context: CheckContext): Promise<number> {
  const { settings, json, io, style } = context;
  if (settings.dryRun) {
    const plan = planRun(scopeOf(context, rulesOf(context)));
    await io.stdout.write(json ? jsonLine(planObject(plan)) : `${planLines(plan, style).join('\n')}\n`);
    return 0;
  }
  const inputs = await readInputs(context);
  const subject = await openSubject(context);
  try {
    const startedAt = context.io.clock.wall();
    const result = await hold(context, subject, inputs);
    await print(context, result);
    const name = settings.local ? 'the local emulator' : subject.baseUrl;
    await writeReports(context, { name, startedAt, result });
    return result.exitCode;
  } finally {
    await subject.close();
  }
}

type Inputs = Awaited<ReturnType<typeof readInputs>>;

async function hold(context: CheckContext, subject: OpenSubject, inputs: Inputs): Promise<CheckResult> {
  const { settings, signal, io } = context;
  const redactor = createRedactor();
  redactor.conceal(subject.apiKey);
  const scope = scopeOf(context, rulesOf(context));
  const progress = createProgress(context, planRun(scope).steps.length);
  const options: CheckOptions = {
    ...inputs,
    subject,
    scope,
    devices: subject.devices,
    maxRequests: settings.maxRequests,
    clock: io.clock,
    signal,
    redactor,
    isEmulator: settings.local === true,
    strict: settings.strict === true,
    onStep: progress.step,
    onWait: progress.wait,
  };
  try {
    return await checkService(options);
  } finally {
    progress.end();
  }
}

/** The rules that are asked for. Throws `usage` for one that does not exist. */
function rulesOf({ settings }: CheckContext): string[] {
  const refuse = (what: string) => new VoicectlError('usage', `--rule: ${what}`);
  return settings.rule.map((id) => findRule(id, refuse));
}

async function print({ io, json, style, note }: CheckContext, result: CheckResult): Promise<void> {
  const text = json
    ? [...result.rules.map(ruleObject), checkSummaryObject(result)].map(jsonLine).join('')
    : [...result.rules.flatMap((judged) => ruleLines(judged, style)), ...checkSummaryLines(result, style)]
        .map((line) => `${line}\n`)
        .join('');
  await io.stdout.write(text);
  const { stopped } = result;
  if (stopped === undefined) return;
  if (json) await note(stopped.message);
  if (stopped.hint !== undefined) await note(stopped.hint);
}

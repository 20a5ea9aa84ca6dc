import { type CheckOptions, type CheckResult, checkService } from '../../conformance/check.ts';
import { findRule } from '../../conformance/expected.ts';
import { type PlanOptions, planRun } from '../../conformance/plan.ts';
import { writeWhole } from '../../files/write-whole.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { jsonLine } from '../../kernel/escape.ts';
import { createRedactor } from '../../kernel/redact.ts';
import { planObject } from '../../report/check-json.ts';
import { planLines } from '../../report/check-lines.ts';
import { type OpenSubject, openSubject } from '../conformance/open-subject.ts';
import { scopeOf } from '../conformance/scope.ts';
import { reportRun } from '../run-reporter.ts';
import type { CheckContext } from './context.ts';
import { readInputs } from './read-inputs.ts';
import { type CheckFacts, type CheckView, createCheckLines } from './view.ts';

export async function run(context: CheckContext): Promise<number> {
  const { settings, json, io, style, note } = context;
  const scope = scopeOf(context, rulesOf(context));
  const plan = planRun(scope);
  if (settings.dryRun) {
    await io.stdout.write(json ? jsonLine(planObject(plan)) : `${planLines(plan, style).join('\n')}\n`);
    return 0;
  }
  const name = settings.local ? 'the local emulator' : settings.baseUrl;
  const { junit } = settings;
  return reportRun(context, { command: 'check', subject: name, junit }, async (report) => {
    const inputs = await readInputs(context);
    const subject = await openSubject(context);
    try {
      const startedAt = io.clock.wall();
      const result = await hold(context, { subject, inputs, scope }, { name, plan, scope });
      report(async () => {
        const { checkReport } = await import('../../report/verdict-report.ts');
        return checkReport({ subject: name, startedAt, result, strict: settings.strict === true });
      });
      if (settings.html !== undefined) {
        const { checkPage } = await import('../../report/check-page.ts');
        await writeWhole(settings.html, checkPage({ subject: name, startedAt, result }), {
          giveUp: io.giveUp,
        });
        await note(`Wrote ${settings.html}`);
      }
      return result.exitCode;
    } finally {
      await subject.close();
    }
  });
}

interface Asking {
  subject: OpenSubject;
  inputs: Awaited<ReturnType<typeof readInputs>>;
  scope: PlanOptions;
}

async function hold(
  context: CheckContext,
  { subject, inputs, scope }: Asking,
  facts: CheckFacts,
): Promise<CheckResult> {
  const { settings, io } = context;
  const redactor = createRedactor();
  redactor.conceal(subject.apiKey);
  const view = await openView(context, facts);
  const options: CheckOptions = {
    ...inputs,
    subject,
    scope,
    devices: subject.devices,
    maxRequests: settings.maxRequests,
    clock: io.clock,
    redactor,
    isEmulator: settings.local === true,
    strict: settings.strict === true,
    ...view.follow,
  };
  try {
    const result = await checkService(options);
    await view.finish(result);
    return result;
  } finally {
    await view.close();
  }
}

async function openView(context: CheckContext, facts: CheckFacts): Promise<CheckView> {
  const openOwn = () => openOwnView(context, facts);
  if (!context.settings.open) return openOwn();
  const { withCheckPage } = await import('./page.ts');
  return withCheckPage(context, facts, openOwn);
}

async function openOwnView(context: CheckContext, facts: CheckFacts): Promise<CheckView> {
  const { io, output } = context;
  if (output !== 'tui' || io.terminal === undefined) return createCheckLines(context, facts);
  const { createCheckScreen } = await import('./screen.ts');
  return createCheckScreen(context, { ...facts, device: io.terminal });
}

/** The rules that are asked for. Throws `usage` for one that does not exist. */
function rulesOf({ settings }: CheckContext): string[] {
  const refuse = (what: string) => new VoicectlError('usage', `--rule: ${what}`);
  return settings.rule.map((id) => findRule(id, refuse));
}

import { join } from 'node:path';
import { loadPcm } from '../../audio/wav/wav-source.ts';
import type { OptionName, OptionOf } from '../../config/options.ts';
import { isLoopback } from '../../config/target.ts';
import type { ServiceUnderTest } from '../../conformance/asker.ts';
import { addCosts, type Cost, noCost } from '../../conformance/cost.ts';
import type { ExchangeRunOptions } from '../../conformance/exchange-run.ts';
import { type Plan, type PlanOptions, planRun, requireFlags } from '../../conformance/plan.ts';
import type { CheckLevel } from '../../conformance/steps/step.ts';
import { shippedFolder } from '../../files/shipped-file.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { createRedactor } from '../../kernel/redact.ts';
import { planLines, planObject } from '../../report/check-lines.ts';
import type { Amount } from '../../ui/verdict-model.ts';
import type { CommandContext } from '../command.ts';
import { openTarget } from '../service/target.ts';
import type { VerdictFollower } from './run-verdicts.ts';

/** The common context of the commands that hold planned exchanges with a service. */
export type ConformanceContext = CommandContext<Extract<OptionName, OptionOf<'learn'> & OptionOf<'check'>>>;

/**
 * What the flags request; `rules` narrows it to what these rules need. Throws `usage` if `full`, or a rule, reaches
 * the rate limit of another machine without a flag of this run that allows it.
 */
export function scopeOf(
  { settings, origin }: ConformanceContext,
  rules: readonly string[] = [],
): PlanOptions {
  const levels: CheckLevel[] = ['base'];
  const isFull = settings.level === 'full';
  const isHere = settings.local === true || isLoopback(settings.baseUrl);
  if (isFull && origin('level') !== 'flag' && !isHere)
    throw new VoicectlError(
      'usage',
      `level: full reaches the rate limit of ${new URL(settings.baseUrl).host}`,
      {
        hint: 'Give --level full on the command line, or use level: standard in the config file.',
      },
    );
  if (isFull || settings.level === 'standard') levels.push('standard');
  if (isFull || settings.exhaust) levels.push('exhaust');
  if (settings.thorough) levels.push('thorough');
  const scope: PlanOptions = {
    levels: new Set(levels),
    rules,
    isAlone: settings.oneDevice === true,
    wrongKey: settings.wrongKey !== false,
    isSecure: !settings.local && new URL(settings.baseUrl).protocol === 'https:',
    isLoopback: isHere,
    waitMs: settings.wait,
  };
  for (const rule of rules) requireFlags(`--rule: ${rule}`, planRun({ ...scope, rules: [rule] }), scope);
  return scope;
}

/** Shows the planned exchanges, for `--dry-run`. */
export async function printPlan({ style, print }: ConformanceContext, scope: PlanOptions): Promise<void> {
  const plan = planRun(scope);
  await print(planObject(plan), planLines(plan, style));
}

/** The name of the checked service, for people. */
export function subjectName({ settings }: ConformanceContext): string {
  return settings.local ? 'the local emulator' : settings.baseUrl;
}

type SharedOptions = Omit<ExchangeRunOptions, 'plan' | 'signal'>;

/**
 * How the exchanges are held: with which service, as which devices, and within which limits. With `--local` the service is
 * an emulator, which `close` ends.
 */
export async function openExchanges(
  context: ConformanceContext,
  scope: PlanOptions,
): Promise<{ options: SharedOptions; close(): Promise<void> }> {
  const { settings, io, signal } = context;
  const speech = await loadPcm(join(shippedFolder('fixtures'), 'hello.wav'), { signal });
  const [firstDevice, ...otherDevices] = settings.devices;
  const target = await openTarget({
    ...context,
    settings: { ...settings, device: firstDevice },
    origin: (name) => context.origin(name === 'device' ? 'devices' : name),
  });
  const subject: ServiceUnderTest = target;
  context.awaits(`an answer from ${subjectName(context)}`);
  const redactor = createRedactor();
  redactor.conceal(subject.apiKey);
  return {
    options: {
      ...{ subject, scope, speech, redactor },
      devices: [target.device, ...otherDevices],
      maxRequests: settings.maxRequests,
      clock: io.clock,
      isEmulator: settings.local === true,
    },
    close: target.close,
  };
}

/** Shows the steps of a plan, and how much of it is done. `awaits`: names the current step for `--timeout`. */
export function followSteps(
  plan: Plan,
  { show, awaits }: Pick<VerdictFollower<never>, 'show'> & { awaits(what: string): void },
): Required<Pick<ExchangeRunOptions, 'onStep' | 'onWait' | 'onSpent'>> {
  let asked = 0;
  let planned = plan.cost;
  let spent = noCost;
  let isAgain = false;
  const used = () =>
    show({
      type: 'used',
      amounts: [{ name: 'steps', used: asked, of: plan.steps.length }, ...costAmounts(spent, planned)],
    });
  used();
  return {
    onStep({ id, title }, number) {
      if (number === 1) asked += 1;
      else if (!isAgain) {
        isAgain = true;
        planned = addCosts([plan.cost, plan.confirmCost]);
      }
      used();
      awaits(`${id}: ${title}`);
      show({ type: 'doing', text: `${number === 2 ? 'again: ' : ''}${id} ${title}` });
    },
    onWait: (ms) => show({ type: 'doing', text: 'waiting', forMs: ms }),
    onSpent(cost) {
      spent = cost;
      used();
    },
  };
}

function costAmounts(spent: Cost, planned: Cost): Amount[] {
  return [
    { name: 'requests', used: spent.tokens + spent.plain, of: planned.tokens + planned.plain },
    { name: 'connections', used: spent.connections, of: planned.connections },
  ];
}

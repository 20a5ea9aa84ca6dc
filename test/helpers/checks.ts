import { type CheckOptions, type CheckResult, checkService } from '../../src/conformance/check.ts';
import type { Judged } from '../../src/conformance/judge.ts';
import type { PlanOptions } from '../../src/conformance/plan.ts';
import { createRedactor } from '../../src/kernel/redact.ts';
import { makeTone, toPcm } from '../audio/tone.ts';
import { hasten, hastyClock } from './hasten.ts';

export const everything: PlanOptions['levels'] = new Set(['base', 'standard', 'exhaust']);

export interface Scope extends Partial<Omit<CheckOptions, 'scope'>> {
  scope?: Partial<PlanOptions>;
}

/** The verdicts of a service, asked with little to say, and in the time of `hastyClock` unless another clock is given. */
export function check(
  service: { baseUrl: string; wsUrl: string; apiKey?: string; ca?: string | undefined },
  { scope = {}, ...options }: Scope = {},
): Promise<CheckResult> {
  const { baseUrl, wsUrl, apiKey = 'check-key', ca } = service;
  const redactor = createRedactor();
  redactor.conceal(apiKey);
  const checking = checkService({
    subject: { baseUrl, wsUrl, apiKey, ca, caFile: undefined },
    devices: ['check-device'],
    scope: {
      ...{ levels: new Set(['base']), rules: [], isAlone: false, wrongKey: true, waitMs: 200 },
      isSecure: baseUrl.startsWith('https:'),
      isLoopback: true,
      ...scope,
    },
    speech: toPcm(makeTone({ hz: 440, rate: 16_000, seconds: 0.3 })),
    clock: hastyClock,
    signal: new AbortController().signal,
    redactor,
    ...options,
  });
  return options.clock === undefined ? hasten(hastyClock, checking) : checking;
}

/** Rules about what the specification leaves open: a good service is observed. */
const observable = ['R41', 'R45'];

/** What each rule was found to be, those aside that passed, were skipped or may be observed: `R12 fail: exp is 61 s after iat`. */
export function complaints({ rules }: CheckResult): string[] {
  const isGood = ({ rule, finding: { verdict } }: Judged) =>
    ['pass', 'skipped'].includes(verdict) || (verdict === 'observed' && observable.includes(rule.id));
  return rules
    .filter((one) => !isGood(one))
    .map(({ rule, finding }) => `${rule.id} ${finding.verdict}: ${finding.message}`);
}

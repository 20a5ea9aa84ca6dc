import type { Clock } from '../../kernel/clock.ts';
import { abortable } from '../../kernel/promises.ts';
import { deviceRules } from '../../rules/device/catalogue.ts';
import { type Finding, type Seen, unknown } from '../../rules/rule.ts';
import { type DrillRule, ruleOf } from './catalogue.ts';
import { followSituation } from './follow.ts';
import { deviceEndText } from './judging.ts';
import type { DrillView, ListeningAddress, Situation, StartDevice } from './situation.ts';
import { openStage, type ServiceAccess } from './stage.ts';

export interface SituationOptions {
  access: ServiceAccess;
  clock: Clock;
  signal: AbortSignal;
  deviceTimeoutMs: number;
  start: StartDevice | undefined;
  /** Only this device counts; undefined: any. */
  device: string | undefined;
  /** Called with the addresses when the service listens. */
  onListening?: ((address: ListeningAddress) => void) | undefined;
  onStopNeeded?: (() => void) | undefined;
}

/** The verdict on one situation. */
export interface Drilled {
  /** Of the situation, or of another rule that was broken in it. */
  id: string;
  situation: string;
  rule: DrillRule;
  title: string;
  finding: Finding;
  evidence: readonly Seen[];
  elapsedMs: number;
  /** The last lines of the command, unless it passed. */
  output: readonly string[];
}

/** What one situation showed. */
export interface Outcome {
  drilled: Drilled;
  /** Other rules that were broken in the situation. */
  also: readonly Drilled[];
  view: DrillView;
  cameAtAll: boolean;
}

/** Puts the device through one situation. Rejects with the signal's reason, or with what starting it throws. */
export async function runSituation(situation: Situation, options: SituationOptions): Promise<Outcome> {
  const { access, clock, device: named } = options;
  const startedAt = clock.now();
  let look = () => {};
  const stage = await openStage({ situation, access, clock, device: named, onChange: () => look() });
  try {
    options.onListening?.(stage.address);
    const { view, cameAtAll, device } = await followSituation({
      ...options,
      situation,
      stage,
      onStopNeeded: () => options.onStopNeeded?.(),
      onReady: (ready) => {
        look = ready;
      },
    });
    look = () => {};
    await device?.kill();
    const finding = judge(situation, view, cameAtAll);
    const elapsedMs = clock.now() - startedAt;
    const output = device?.output() ?? [];
    const drilled = drilledIn(situation, { finding, view, elapsedMs, output });
    const also = judgeOthers(situation, view).map((found) => ({
      ...drilledIn(situation, { ...found, view, elapsedMs, output }),
      id: found.rule.id,
      rule: found.rule,
      title: `${found.rule.title} (${situation.id})`,
    }));
    return { drilled, also, view, cameAtAll };
  } finally {
    look = () => {};
    const { signal } = options;
    // A device that does not answer the close is not waited for at the end.
    await abortable(stage.close(), signal).catch((thrown) => {
      if (!signal.aborted) throw thrown;
    });
  }
}

function drilledIn(
  { id, title }: Situation,
  found: { finding: Finding; view: DrillView; elapsedMs: number; output: readonly string[] },
): Drilled {
  const { finding, view, elapsedMs } = found;
  const evidence = view.seen.filter((one) => finding.evidence.includes(one.id));
  const output = finding.verdict === 'pass' ? [] : found.output;
  return { id, situation: id, rule: ruleOf(id), title, finding, evidence, elapsedMs, output };
}

function judge(situation: Situation, view: DrillView, cameAtAll: boolean): Finding {
  const ended = view.device.ended === undefined ? undefined : deviceEndText(view);
  if (!cameAtAll) return unknown(`it did not connect${ended === undefined ? '' : `: ${ended}`}`, []);
  const finding = situation.judge(view);
  const isBroughtAbout = view.done.length === (situation.steps?.length ?? 0);
  if (isBroughtAbout || finding.verdict === 'fail') return finding;
  return unknown(`this situation could not be created: ${ended ?? 'it did not stream'}`, view.seen);
}

/** The rules that apply in every situation. */
const everywhere: readonly string[] = ['D1', 'D2', 'D3', 'D4'];

function judgeOthers(situation: Situation, view: DrillView): { rule: DrillRule; finding: Finding }[] {
  const own = ruleOf(situation.id).id;
  const isMoved = situation.steps?.some((step) => 'advanceMs' in step.do) === true;
  return deviceRules
    .filter(({ id }) => everywhere.includes(id) && id !== own && !(isMoved && id === 'D3'))
    .flatMap((rule) => {
      const finding = rule.judge(view.seen);
      return finding?.verdict === 'fail' ? [{ rule, finding }] : [];
    });
}

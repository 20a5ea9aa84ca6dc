import { setMaxListeners } from 'node:events';
import { toVoicectlError, VoicectlError } from '../../kernel/errors.ts';
import { skipped, unknown, type Verdict } from '../../rules/rule.ts';
import { countVerdicts, exitCodeOf, type RunConclusion } from '../verdicts.ts';
import { ruleOf } from './catalogue.ts';
import { streamsConfirmed } from './moments.ts';
import { type Drilled, type Outcome, runSituation, type SituationOptions } from './run-situation.ts';
import type { Situation } from './situation.ts';

export interface DrillOptions extends SituationOptions {
  situations: readonly Situation[];
  /** Situations at once; only a device that the drill starts can be in several. */
  parallel: number;
  onBegin?: ((situation: Situation) => void) | undefined;
  /** Called with each verdict: of the situation, and of other rules that were broken in it. */
  onDrilled?: ((drilled: Drilled) => void) | undefined;
}

export interface DrillResult extends RunConclusion {
  /** In the order of the catalogue. */
  drilled: readonly Drilled[];
  verdicts: Record<Verdict, number>;
}

/** The reason for a situation that was not reached. */
export const endedBefore = 'the drill was stopped';
/** A device that fails to connect this often in a row will not connect again. */
const mostAbsences = 2;
/** The first situations show whether there is a device at all, and whether it can stream. */
const firstSituations = 2;
/** Situations that can be judged without a stream. */
const needsNoStream = /^(D1|D2|D6|D7|D14|D17)(-|$)/;

/**
 * Puts a device through situations. Throws what starting the service or the device throws. An abort, or a device
 * that does not connect, ends the drill with what was seen so far.
 */
export async function drill({ signal: given, ...rest }: DrillOptions): Promise<DrillResult> {
  const { situations, clock, parallel } = rest;
  const failed = new AbortController();
  // Each situation listens to it.
  const signal = AbortSignal.any([given, failed.signal]);
  setMaxListeners(0, signal);
  const startedAt = clock.now();
  const course = createCourse({ ...rest, signal });
  for (const situation of situations.slice(0, firstSituations)) await course.run(situation);
  const waiting = situations.slice(firstSituations);
  const workOff = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await course.run(next);
  };
  // One that throws ends the others, before it ends the drill.
  const endAll = (thrown: unknown) => {
    waiting.length = 0;
    failed.abort(thrown);
    throw thrown;
  };
  const ended = await Promise.allSettled(Array.from({ length: parallel }, () => workOff().catch(endAll)));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
  const place = (one: Drilled) => situations.findIndex(({ id }) => id === one.situation);
  const drilled = course.drilled.toSorted((a, b) => place(a) - place(b));
  return {
    drilled,
    verdicts: countVerdicts(drilled),
    stopped: course.stopped,
    exitCode: drillExitCode(drilled, course.stopped),
    elapsedMs: clock.now() - startedAt,
  };
}

/** Runs situations one by one. */
function createCourse(options: DrillOptions) {
  const { access, signal, onBegin, onDrilled, onListening } = options;
  // A device that the drill does not start knows one address.
  const own = { ...access };
  const drilled: Drilled[] = [];
  const prospects = createProspects(options);

  const report = (one: Drilled) => {
    drilled.push(one);
    onDrilled?.(one);
  };
  return {
    drilled,
    get stopped() {
      return prospects.stopped;
    },
    async run(situation: Situation): Promise<void> {
      if (signal.aborted) prospects.stop();
      const finding = prospects.reasonToLeaveOut(situation);
      if (finding !== undefined) {
        report(leftOut(situation, finding));
        return;
      }
      onBegin?.(situation);
      try {
        const outcome = await runSituation(situation, {
          ...options,
          access: own,
          onListening(address) {
            if (options.start === undefined && !own.port) own.port = Number(new URL(address.baseUrl).port);
            onListening?.(address);
          },
        });
        [outcome.drilled, ...outcome.also].forEach(report);
        prospects.learn(outcome);
      } catch (thrown) {
        if (!signal.aborted) throw thrown;
        prospects.stop();
        report(leftOut(situation, skipped(endedBefore, [])));
      }
    },
  };
}

/** Remembers what makes further situations pointless. */
function createProspects(options: DrillOptions) {
  const { access, signal } = options;
  let stopped: VoicectlError | undefined;
  let absences = 0;
  let hasCome = false;
  /** Why no stream can open. */
  let obstacle: string | undefined;
  return {
    get stopped() {
      return stopped;
    },
    /** The signal ends the drill. */
    stop() {
      stopped ??= toVoicectlError(signal.reason);
    },
    learn({ drilled: own, cameAtAll, view }: Outcome) {
      absences = cameAtAll ? 0 : absences + 1;
      if (!cameAtAll && !hasCome) stopped = noDeviceCame(own, options);
      else if (absences >= mostAbsences) stopped = lostDevice(options);
      hasCome ||= cameAtAll;
      if (own.id === 'D1' && own.finding.verdict === 'fail') obstacle = 'it gets no token: see D1';
      if (own.id === 'D2' && streamsConfirmed(view).length === 0)
        obstacle ??= 'no stream is confirmed: see D2';
    },
    reasonToLeaveOut({ id, tls }: Situation) {
      if (stopped !== undefined) return skipped(endedBefore, []);
      if (tls !== undefined && access.tls === undefined) return skipped('needs --tls', []);
      if (obstacle !== undefined && id !== 'D2' && !needsNoStream.test(id)) return unknown(obstacle, []);
      return undefined;
    },
  };
}

function leftOut({ id, title }: Situation, finding: Drilled['finding']): Drilled {
  return { id, situation: id, rule: ruleOf(id), title, finding, evidence: [], elapsedMs: 0, output: [] };
}

function drillExitCode(drilled: readonly Drilled[], stopped: VoicectlError | undefined): number {
  const own = exitCodeOf(drilled, undefined, false);
  return stopped !== undefined && (stopped.code !== 'timed-out' || own === 0) ? stopped.exitCode : own;
}

type Absent = Pick<SituationOptions, 'start' | 'deviceTimeoutMs'>;

/** Nobody connected at all. */
function noDeviceCame({ finding, output }: Drilled, { start, deviceTimeoutMs }: Absent): VoicectlError {
  if (start === undefined)
    return new VoicectlError('timed-out', `No device connected within ${deviceTimeoutMs / 1000} s`, {
      hint: 'Point the device at the addresses above, or wait longer with --device-timeout.',
    });
  const last = output.slice(-3).join(' · ');
  const why = finding.message.replace('it did not', 'The device did not');
  const within = finding.message.includes(':') ? '' : ` within ${deviceTimeoutMs / 1000} s`;
  const hint =
    last === ''
      ? 'The command finds the addresses in VOICECTL_BASE_URL and VOICECTL_WS_URL.'
      : `It printed: ${last}`;
  return new VoicectlError('timed-out', `${why}${within}`, { hint });
}

/** It connected before, and does not connect any more. */
function lostDevice({ deviceTimeoutMs }: Absent): VoicectlError {
  return new VoicectlError('timed-out', `The device did not reconnect within ${deviceTimeoutMs / 1000} s`, {
    hint: 'Restart it, and run the remaining situations with --situation.',
  });
}

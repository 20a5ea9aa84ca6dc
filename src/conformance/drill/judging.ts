import { secondsText } from '../../protocol/time-text.ts';
import { deviceRules } from '../../rules/device/catalogue.ts';
import { type Finding, fail, pass, unknown, warn } from '../../rules/rule.ts';
import type { SeenStream } from '../../rules/stream-seen.ts';
import { isOpen, sentMs, streamsConfirmed, stuckOn } from './moments.ts';
import type { DrillView } from './situation.ts';

/** Judges what was seen by a device rule. */
export function judgeBy(id: string) {
  const rule = deviceRules.find((one) => one.id === id);
  return ({ seen }: DrillView): Finding => rule?.judge(seen) ?? unknown('the device was not seen', []);
}

/** How a command ended, for people. */
export function deviceEndText({ device: { ended } }: DrillView): string {
  const status = ended?.status;
  return typeof status === 'number' ? `the command ended with ${status}` : `${status} ended the command`;
}

/**
 * The verdict on a device that should have reconnected since a moment: `found` if it did. A command that ends instead relies
 * on whoever restarts it: not wrong, but not ideal.
 */
export function judgeComeback(
  view: DrillView,
  found: Finding,
  since = view.done.at(-1) ?? lastEnd(view) ?? lastRefusal(view),
): Finding {
  const { device, now } = view;
  if (device.starts > 1 && found.verdict === 'pass')
    return {
      ...found,
      verdict: 'warn',
      message: `${deviceEndText(view)} and did not reconnect; restarted, it requested a new token`,
    };
  if (found.verdict !== 'unknown') return found;
  // There was nothing to come back to.
  if (since === undefined) return found;
  if (device.ended !== undefined) return warn(`${deviceEndText(view)} and did not reconnect`, view.seen);
  const times = stuckOn(view);
  if (times !== undefined)
    return fail(
      `it presented the same token ${times} times, and did not request a new one`,
      view.seen.slice(-3),
    );
  return fail(`it did not reconnect within ${secondsText(now - since, 1)}`, view.seen.slice(-3));
}

function lastEnd({ seen }: DrillView): number | undefined {
  return seen.flatMap(({ exchange }) => (exchange.kind === 'stream' ? (exchange.end?.at ?? []) : [])).at(-1);
}

/** A refused upgrade is not an exchange: the journal has its time. */
export function upgradesRefusedAt({ journal }: DrillView): number[] {
  return journal.flatMap((event) =>
    event.type === 'fault-struck' && event.fault === 'upgrade-refused' ? [event.at] : [],
  );
}

function lastRefusal(view: DrillView): number | undefined {
  return upgradesRefusedAt(view).at(-1);
}

/** Whether a stream continued after something that it should tolerate, by default the last step. */
export function judgeGoingOn(view: DrillView, what: string, at = view.done.at(-1) ?? view.now): Finding {
  const stream = streamsConfirmed(view).find(({ exchange }) => (exchange.end?.at ?? view.now) >= at);
  if (stream === undefined) return unknown(`no stream was open for ${what}`, []);
  const { end } = stream.exchange;
  if (end !== undefined) {
    const how = end.code === 1006 ? 'cut the connection' : `closed with ${end.code}`;
    return end.by === 'device'
      ? fail(`it ${how} ${secondsText(end.at - at, 1)} after ${what}`, stream)
      : fail(`it broke the protocol after ${what}: closed with ${end.code}`, stream);
  }
  return judgeSending(view, stream, { from: at, what });
}

/** A device that was sending must continue to send at least this share of real time. */
const leastShare = 0.8;
const shortestMs = 300;

function judgeSending(
  view: DrillView,
  stream: SeenStream,
  { from, what }: { from: number; what: string },
): Finding {
  const lastedMs = view.now - from;
  const sent = sentMs(stream, from);
  if (sentMs(stream, 0, from) < shortestMs)
    return isOpen(stream)
      ? pass(`it stayed connected after ${what}`, stream)
      : unknown('it sent nothing', stream);
  const share = sent / lastedMs;
  const figure = `${share.toFixed(1)} × real time`;
  return share < leastShare
    ? fail(`after ${what} it sent only ${figure}`, stream)
    : pass(`it kept sending after ${what}, at ${figure}`, stream);
}

import type { Side } from '../wire/exchange.ts';
import type { EmulatorEvent } from './events.ts';

/** A warning about a stream. `broken`: the rule that it broke, as a verdict. */
interface EventNotice {
  code: string;
  message: string;
  side?: Side;
  broken?: { name: string; ok: false; expected: string; measured: string };
}

/** What an event says about its stream, besides the traffic itself: for a recording. */
export function noticeOf(event: EmulatorEvent): EventNotice | undefined {
  switch (event.type) {
    case 'device-finding':
    case 'service-finding':
      return { code: event.finding, message: event.remark, ...(event.from && { side: event.from }) };
    case 'fault-struck':
      return { code: event.fault, message: `fault ${event.fault}` };
    case 'reply-failed':
      return { code: event.type, message: event.why };
    case 'violation':
    case 'remark': {
      const { from: side, rule, message, value } = event;
      const warning = { code: rule, message: `${side}: ${message}: ${value}`, side };
      const name = `${side} ${rule}`;
      return event.type === 'remark'
        ? warning
        : { ...warning, broken: { name, ok: false, expected: message, measured: value } };
    }
    default:
      return undefined;
  }
}

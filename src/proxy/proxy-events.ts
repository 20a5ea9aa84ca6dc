import type { EmulatorEventBody, EmulatorEvents } from '../service/events.ts';
import type { Side } from '../wire/exchange.ts';

/** The events of a proxy. Each names the side that it comes from, or is about. */
export interface ProxyEvents extends EmulatorEvents {
  readonly of: Readonly<Record<Side, EmulatorEvents>>;
}

export function nameSides(events: EmulatorEvents): ProxyEvents {
  const of = (side: Side): EmulatorEvents => ({
    emit: (body: EmulatorEventBody) => events.emit({ ...body, from: side }),
    subscribe: events.subscribe,
    redact: events.redact,
  });
  return { ...events, of: { device: of('device'), service: of('service') } };
}

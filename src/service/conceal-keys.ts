import { copyTexts, createNameConcealer, createRedactor, type Redactor } from '../kernel/redact.ts';
import { createSecretIndex } from '../kernel/secret-index.ts';
import type { EmulatorState } from '../protocol/control.ts';
import type { EmulatorEventBody, EmulatorEvents } from './events.ts';

/** Names of the fields of events that may hold text of any kind; numbers and closed lists of words are left out. */
type TextField<Body = EmulatorEventBody> = Body extends unknown
  ? { [Name in keyof Body]-?: MayHoldText<NonNullable<Body[Name]>> extends true ? Name : never }[keyof Body]
  : never;
type MayHoldText<Value> = unknown extends Value
  ? true
  : Value extends readonly (infer Item)[]
    ? MayHoldText<Item>
    : Value extends object
      ? true
      : string extends Value
        ? true
        : false;

/**
 * What is concealed in a field. `text`: a key anywhere in it. `name`: all of it, if it is a key; people identify a device
 * by its name. `fact`: nothing, because it is ours or the system's. The compiler requires each field that may hold text.
 */
const kinds: Readonly<Record<TextField, 'text' | 'name' | 'fact'>> = {
  advice: 'text',
  body: 'text',
  calls: 'text',
  kind: 'text',
  message: 'text',
  path: 'text',
  reason: 'text',
  remark: 'text',
  remarks: 'text',
  sent: 'text',
  value: 'text',
  what: 'text',
  why: 'text',
  device: 'name',
  jti: 'name',
  baseUrl: 'fact',
  code: 'fact',
  figure: 'fact',
  lan: 'fact',
  pace: 'fact',
  page: 'fact',
  protocol: 'fact',
  remote: 'fact',
  rule: 'fact',
  version: 'fact',
  wsUrl: 'fact',
};

/** The fields of a message that give its kind. */
const kindFields: ReadonlySet<string> = new Set(['type', 'kind', 'event', 'name', 'status', 'state']);

/** Events without the accepted keys, whatever a device sends. What an event is about stays, even if a key is a word of ours. */
export function concealKeys(events: EmulatorEvents, keys: readonly string[]): EmulatorEvents {
  if (keys.length === 0) return events;
  const redactor = createRedactor(createSecretIndex(keys));
  const concealName = createNameConcealer(keys);
  const clean = (name: string, value: unknown) => {
    const kind = Object.hasOwn(kinds, name) ? kinds[name as TextField] : 'fact';
    if (kind === 'text') return withoutKeys(value, redactor);
    return kind === 'name' && typeof value === 'string' ? concealName(value) : value;
  };
  return {
    subscribe: events.subscribe,
    redact: redactor.text,
    emit(body) {
      const cleaned = Object.entries(body).map(([name, value]) => [name, clean(name, value)]);
      return events.emit(Object.assign({ ...body }, Object.fromEntries(cleaned)));
    },
  };
}

/** The value itself if no text in it holds a key, else a copy; names of fields stay. */
function withoutKeys(value: unknown, redactor: Redactor): unknown {
  if (typeof value === 'string') return redactor.text(value);
  if (redactor.value(value) === value) return value;
  return copyTexts(value, {
    text: (text, name) => (kindFields.has(name) ? text : redactor.text(text)),
    name: (name) => name,
  });
}

/** The state without accepted keys in the place of names. */
export function concealKeysInState(keys: readonly string[]): (state: EmulatorState) => EmulatorState {
  if (keys.length === 0) return (state) => state;
  const conceal = createNameConcealer(keys);
  const clean = (name: string | null) => (name === null ? null : conceal(name));
  const cleanClaims = (claims: object) =>
    Object.fromEntries(
      Object.entries(claims).map(([name, value]) => [
        name,
        typeof value === 'string' ? conceal(value) : value,
      ]),
    );
  return (state) => ({
    ...state,
    devices: state.devices.map((one) => ({ ...one, device: conceal(one.device) })),
    streams: state.streams.map((one) => ({
      ...one,
      device: clean(one.device),
      jti: clean(one.jti),
      claims: one.claims === null ? null : cleanClaims(one.claims),
    })),
    tokens: state.tokens.map((one) => ({ ...one, device: conceal(one.device), jti: conceal(one.jti) })),
  });
}

import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../protocol/error-body.ts';
import { ownValue } from '../../protocol/parse-json.ts';
import { memoise } from '../../rules/memo.ts';
import type { SeenStream } from '../../rules/stream-seen.ts';
import { type LearnView, type TimedServiceMessage, textsOf } from './view.ts';

/** One message as it was seen, and what its stream shows about the values in it. */
export interface Sample {
  body: unknown;
  /** The device of the stream, if a token named one. */
  device: unknown;
  /** Wall-clock milliseconds of the message. */
  wallAt: number;
  /** Names of fields whose UUID is the same in each message of a stream. */
  sessionFields: ReadonlySet<string>;
  /** Names of fields that count the messages of the stream. */
  counters: ReadonlySet<string>;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** How far a timestamp may be from the moment at which its message arrived. */
const momentSlackMs = 5_000;

/** Messages of one stream as samples. */
export function samplesOf(
  view: LearnView,
  stream: SeenStream,
  messages: readonly TimedServiceMessage[],
): Sample[] {
  const { upgrade } = stream.exchange;
  const context = { device: deviceOf(stream), ...namesOf(view) };
  return messages.map(({ body, at }) => ({ body, wallAt: upgrade.wallAt + at - upgrade.at, ...context }));
}

const namesOf = memoise(
  (view: LearnView): Pick<Sample, 'sessionFields' | 'counters'> => ({
    // A short stream does not repeat the UUID of its session: another one does.
    sessionFields: new Set(view.streams.flatMap((one) => repeatedUuidFields(textsOf(one)))),
    // And none of its own to count.
    counters: counterNames(view.streams.map((one) => textsOf(one).map(({ body }) => body))),
  }),
);

function deviceOf({ exchange }: SeenStream): unknown {
  for (const message of exchange.messages) if ('token' in message) return message.token.claims?.sub;
  return undefined;
}

/**
 * What the same message looks like each time it is sent: values that differ by their nature are templates of the
 * dialect. `varying` names the fields for which there is no template.
 */
export function toTemplate(samples: readonly Sample[]): { value: unknown; varying: string[] } {
  const varying: string[] = [];
  const value = templateOf(
    samples.map((sample) => ({ sample, value: sample.body })),
    [],
    varying,
  );
  return { value, varying };
}

interface Seat {
  sample: Sample;
  value: unknown;
}

function templateOf(seats: readonly Seat[], path: readonly string[], varying: string[]): unknown {
  const [first] = seats;
  if (first === undefined) return undefined;
  const natures = seats.map((seat) => natureOf(seat, path));
  const [byNature] = natures;
  if (byNature !== undefined && natures.every((nature) => isDeepStrictEqual(nature, byNature)))
    return byNature;
  if (seats.every(({ value }) => isRecord(value))) {
    const names = Object.keys(first.value as object);
    const fields = names.map((name) => {
      const inner = seats.map(({ sample, value }) => ({
        sample,
        value: ownValue(value as Record<string, unknown>, name),
      }));
      return [name, templateOf(inner, [...path, name], varying)] as const;
    });
    return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  }
  if (seats.every(({ value }) => isDeepStrictEqual(value, first.value))) return first.value;
  if (areCounted(seats)) return { $stream: true };
  varying.push(path.join('.'));
  return undefined;
}

/** Whether these are whole numbers that increase from stream to stream. */
function areCounted(seats: readonly Seat[]): boolean {
  const values = seats
    .toSorted((a, b) => a.sample.wallAt - b.sample.wallAt)
    .map(({ value }) => (typeof value === 'number' ? value : Number.NaN));
  return values.every((value, at) => Number.isInteger(value) && value > (values[at - 1] ?? -1));
}

/** The template that a value stands for by its nature, whether or not it differs. */
function natureOf({ sample, value }: Seat, path: readonly string[]): unknown {
  if (typeof value === 'number') return numberNature(value, sample, path);
  if (typeof value !== 'string') return undefined;
  if (value !== '' && value === sample.device) return { $device: true };
  if (uuid.test(value))
    return sample.sessionFields.has(path.at(-1) ?? '') ? { $session: true } : { $uuid: true };
  return /^\d{4}-\d\d-\d\dT/.test(value) && isNow(Date.parse(value), sample)
    ? { $now: 'iso8601' }
    : undefined;
}

function numberNature(value: number, sample: Sample, path: readonly string[]): unknown {
  if (path.length === 1 && sample.counters.has(path[0] ?? '')) return { $sequence: true };
  if (isNow(value, sample)) return { $now: 'milliseconds' };
  return isNow(value * 1000, sample) ? { $now: 'seconds' } : undefined;
}

function isNow(ms: number, { wallAt }: Sample): boolean {
  return Math.abs(ms - wallAt) < momentSlackMs;
}

/** The names of fields that hold the same UUID in more than one of these messages. */
function repeatedUuidFields(messages: readonly TimedServiceMessage[]): string[] {
  const counts = new Map<string, { name: string; count: number }>();
  for (const { body } of messages) {
    for (const [name, text] of textFields(body)) {
      if (uuid.test(text)) counts.set(text, { name, count: (counts.get(text)?.count ?? 0) + 1 });
    }
  }
  return [...counts.values()].flatMap(({ name, count }) => (count > 1 ? [name] : []));
}

/** Every field with a text, at any depth. */
function textFields(value: unknown): [name: string, text: string][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === 'string' ? [[name, inner] as [string, string]] : textFields(inner),
  );
}

/** Fields that count 1, 2, 3 … through the messages of each stream that have them. */
function counterNames(streams: readonly (readonly unknown[])[]): Set<string> {
  const all = streams.map((bodies) => bodies.filter(isRecord));
  const names = new Set(all.flat().flatMap((record) => Object.keys(record)));
  return new Set(
    [...names].filter((name) => {
      const lists = all.map((records) =>
        records.flatMap((record) => (Object.hasOwn(record, name) ? [ownValue(record, name)] : [])),
      );
      return (
        lists.some(({ length }) => length > 1) &&
        lists.every((values) => values.every((value, index) => value === index + 1))
      );
    }),
  );
}

/** The fields that are the same in all messages, except those with a meaning of their own. */
export function fieldsOf(samples: readonly Sample[], own: readonly string[]): Record<string, unknown> {
  const { value } = toTemplate(samples);
  const fields = isRecord(value) ? Object.entries(value) : [];
  return Object.fromEntries(fields.filter(([name]) => !own.includes(name)));
}

import * as z from 'zod';
import { closeCodeSchema, closeReasonSchema } from './close-code-schema.ts';
import { durationSchema } from './duration.ts';
import { networkShape } from './network.ts';
import { expectedUnit, lacksUnit } from './read-duration.ts';
import { createSchemaPlaces, defaultMark, type SchemaPlaces } from './schema-places.ts';
import { didYouMean } from './suggestion.ts';

/**
 * The fault catalogue: whatever a real service could do to a device, by name. The emulator injects them, the
 * command line and the control API name them, scenarios use them. Not part of the specification.
 */

/** Where a fault strikes. Its count and its probability are about these opportunities. */
export const faultPoints = {
  connection: 'each new connection of a device, as long as it lasts',
  token: 'each token request with a valid body',
  upgrade: 'each WebSocket upgrade',
  authorise: 'each token that is presented on a stream',
  connected: 'each stream, when it is confirmed',
  live: 'each stream when it becomes live, and at once all streams that are live when the fault is added',
  audio: 'each message of AI audio',
} as const;

export type FaultPoint = keyof typeof faultPoints;

interface FaultSpec {
  at: FaultPoint;
  summary: string;
  parameters: z.ZodRawShape;
}

const fault = <const Spec extends FaultSpec>(spec: Spec) => spec;

const duration = (fallback: string, what: string) => durationSchema.prefault(fallback).describe(what);
const delay = { delay: duration('3s', 'The delay') };
const after = { after: duration('0ms', 'How long after the stream is live') };
const text = (fallback: string, what: string) => z.string().default(fallback).describe(what);
const word = (fallback: string, what: string) => z.string().min(1).default(fallback).describe(what);

/** Every fault: where it strikes, what happens, and its parameters. */
export const faultCatalogue = {
  // The network beneath everything.
  network: fault({
    at: 'connection',
    summary: 'the network is slow, uneven, lossy or gone, in both directions; the newest one counts',
    parameters: networkShape,
  }),

  // The token endpoint.
  'token-error': fault({
    at: 'token',
    summary: 'the token request is answered with an error of this status and code',
    parameters: {
      status: z.int().min(400).max(599).default(500).describe('HTTP status'),
      code: word('INTERNAL_ERROR', 'Error code of the body'),
      message: text('The service has failed', 'Error message of the body'),
    },
  }),
  'token-unauthorized': fault({
    at: 'token',
    summary: 'the API key is refused, in the wording of the dialect',
    parameters: {},
  }),
  'token-unavailable': fault({
    at: 'token',
    summary: 'the service is unavailable, in the wording of the dialect',
    parameters: {},
  }),
  'rate-limited': fault({
    at: 'token',
    summary: 'the device is rate limited, with the headers of an exhausted window',
    parameters: { reset: duration('60s', 'Until the window resets') },
  }),
  'token-slow': fault({ at: 'token', summary: 'the token comes late', parameters: delay }),
  'token-hang': fault({ at: 'token', summary: 'the token request is never answered', parameters: {} }),
  'token-reset': fault({
    at: 'token',
    summary: 'the connection of the token request is reset',
    parameters: {},
  }),
  'token-redirect': fault({
    at: 'token',
    summary: 'the token request is redirected (307)',
    parameters: {
      location: z
        .string()
        .regex(/^[\u0021-\u007e]+$/, 'expected a URL in ASCII')
        .default('/moved')
        .describe('Where to'),
    },
  }),
  'token-truncated': fault({ at: 'token', summary: 'the JSON body ends too early', parameters: {} }),
  'token-html': fault({
    at: 'token',
    summary: 'the answer is an HTML page with status 200, as from a proxy',
    parameters: {},
  }),
  'token-missing': fault({ at: 'token', summary: 'the body has no token', parameters: {} }),
  'token-huge': fault({ at: 'token', summary: 'the token is 1 MiB long', parameters: {} }),
  'token-gibberish': fault({ at: 'token', summary: 'the token is not a JWT', parameters: {} }),
  'token-expired': fault({
    at: 'token',
    summary: 'the token expired an hour ago; the stream will refuse it',
    parameters: {},
  }),
  'token-future': fault({
    at: 'token',
    summary: 'the token is issued an hour in the future; the stream will refuse it',
    parameters: {},
  }),
  'token-other-audience': fault({
    at: 'token',
    summary: 'the token is for another audience; the stream will refuse it',
    parameters: {},
  }),
  'token-other-issuer': fault({
    at: 'token',
    summary: 'the token has another issuer; the stream will refuse it',
    parameters: {},
  }),
  'token-bad-signature': fault({
    at: 'token',
    summary: 'the signature is wrong; the stream will refuse the token',
    parameters: {},
  }),

  // The upgrade.
  'upgrade-refused': fault({
    at: 'upgrade',
    summary: 'the upgrade is answered with an error of this status',
    parameters: { status: z.int().min(400).max(599).default(503).describe('HTTP status') },
  }),
  'upgrade-slow': fault({ at: 'upgrade', summary: 'the upgrade comes late', parameters: delay }),
  'upgrade-hang': fault({ at: 'upgrade', summary: 'the upgrade is never answered', parameters: {} }),
  'upgrade-reset': fault({
    at: 'upgrade',
    summary: 'the connection of the upgrade is reset',
    parameters: {},
  }),

  // The token on the stream.
  'auth-refused': fault({
    at: 'authorise',
    summary: 'a good token is refused on the stream, in the wording of the dialect',
    parameters: {
      cause: z
        .enum(['tokenInvalid', 'tokenExpired', 'tokenReused'])
        .default('tokenInvalid')
        .describe('The reason that is given: invalid, expired or used before'),
    },
  }),
  'connection-limit': fault({
    at: 'authorise',
    summary: 'the device has too many connections, in the wording of the dialect',
    parameters: {},
  }),

  // The first message of the service.
  'connected-late': fault({
    at: 'connected',
    summary: 'the connected message comes late; audio is accepted meanwhile',
    parameters: delay,
  }),
  'connected-missing': fault({
    at: 'connected',
    summary: 'the connected message never comes',
    parameters: {},
  }),
  'connected-malformed': fault({
    at: 'connected',
    summary: 'the connected message is cut off, so that it is not valid JSON',
    parameters: {},
  }),
  'connected-unknown': fault({
    at: 'connected',
    summary: 'a message of another kind comes instead',
    parameters: { kind: word('service_hello', 'Kind of the message') },
  }),

  // Messages and endings of a live stream.
  'message-malformed': fault({
    at: 'live',
    summary: 'a text message that is not valid JSON',
    parameters: after,
  }),
  'message-unknown': fault({
    at: 'live',
    summary: 'a message of an unknown kind',
    parameters: { ...after, kind: word('service_unheard_of', 'Kind of the message') },
  }),
  'message-error': fault({
    at: 'live',
    summary: 'an error message, in the wording of the dialect; the stream goes on',
    parameters: {
      ...after,
      code: word('INTERNAL_ERROR', 'Error code'),
      message: text('The service has failed', 'Error message'),
    },
  }),
  close: fault({
    at: 'live',
    summary: 'the stream is closed with a code',
    parameters: {
      ...after,
      code: closeCodeSchema.default(1011).describe('Close code'),
      reason: closeReasonSchema.default('').describe('Close reason'),
    },
  }),
  'abnormal-close': fault({
    at: 'live',
    summary: 'the connection ends without a close frame (1006)',
    parameters: after,
  }),
  reset: fault({ at: 'live', summary: 'the connection is reset', parameters: after }),
  'half-open': fault({
    at: 'live',
    summary: 'the service disappears: it sends nothing, reads nothing and answers no ping',
    parameters: after,
  }),
  stall: fault({
    at: 'live',
    summary: 'the service sends nothing for a while, then everything at once',
    parameters: { ...after, for: duration('3s', 'How long') },
  }),
  deaf: fault({
    at: 'live',
    summary: 'the service stops reading, so that the client’s socket fills up; it goes on sending',
    parameters: after,
  }),

  // The AI's audio.
  mute: fault({
    at: 'audio',
    summary: 'the audio is not sent, as if the AI were silent',
    parameters: {},
  }),
  drop: fault({ at: 'audio', summary: 'the message is lost; use probability to lose some', parameters: {} }),
  duplicate: fault({ at: 'audio', summary: 'the message comes twice', parameters: {} }),
  'odd-split': fault({
    at: 'audio',
    summary: 'the message is split in the middle of a sample',
    parameters: {},
  }),
  burst: fault({
    at: 'audio',
    summary: 'messages are held and sent together',
    parameters: { every: duration('500ms', 'From one burst to the next') },
  }),
  drip: fault({
    at: 'audio',
    summary: 'audio comes slower than real time',
    parameters: { factor: z.number().gt(0).lt(1).default(0.5).describe('Of real time') },
  }),
  clipped: fault({
    at: 'audio',
    summary: 'the audio is far too loud, and clipped',
    parameters: { gain: z.number().min(1).max(60).default(30).describe('In dB') },
  }),
  silent: fault({ at: 'audio', summary: 'the samples are all zero', parameters: {} }),
  'wrong-rate': fault({
    at: 'audio',
    summary: 'the audio has another sample rate, so that the voice is too high or too low',
    parameters: { rate: z.int().min(4_000).max(96_000).default(24_000).describe('In Hz') },
  }),
  'swapped-bytes': fault({ at: 'audio', summary: 'the samples are big-endian', parameters: {} }),
} as const satisfies Record<string, FaultSpec>;

export type FaultName = keyof typeof faultCatalogue;
export const faultNames = Object.keys(faultCatalogue) as FaultName[];

/** Which opportunities a fault takes. */
const count = {
  skip: z
    .int()
    .min(1)
    .optional()
    .describe('Lets this many opportunities pass first: with `times`, faults strike in a fixed order'),
  times: z.int().min(1).optional().describe('Strikes this often, then no more; default: until it is cleared'),
  probability: z
    .number()
    .gt(0)
    .max(1)
    .default(1)
    .describe('Chance at each opportunity; the same in each run with a seed'),
};
/** An upgrade does not tell its device. */
const device = { device: z.string().min(1).optional().describe('Strikes this device only') };
const stream = { stream: z.int().min(1).optional().describe('Strikes the stream of this number only') };
const direction = {
  direction: z
    .enum(['device', 'service'])
    .optional()
    .describe('Which side of a proxy it strikes; default: the device'),
};
const scopes = {
  connection: count,
  token: { ...device, ...count },
  upgrade: count,
  authorise: { ...device, ...count },
  connected: { ...device, ...count },
  live: { ...device, ...stream, ...direction, ...count },
  audio: { ...device, ...stream, ...direction, ...count },
} as const satisfies Record<FaultPoint, z.ZodRawShape>;

type ShapeOf<Name extends FaultName> = (typeof faultCatalogue)[Name]['parameters'];
type ScopeOf<Name extends FaultName> = (typeof scopes)[(typeof faultCatalogue)[Name]['at']];
/** An object type without a key would allow no other. */
type OutputOf<Shape extends z.ZodRawShape> = keyof Shape extends never
  ? unknown
  : z.output<z.ZodObject<Shape>>;
type InputOf<Shape extends z.ZodRawShape> = keyof Shape extends never ? unknown : z.input<z.ZodObject<Shape>>;
type Read<Name extends FaultName> = { name: Name } & OutputOf<ShapeOf<Name>> & OutputOf<ScopeOf<Name>>;
type Written<Name extends FaultName> = { name: Name } & InputOf<ShapeOf<Name>> & InputOf<ScopeOf<Name>>;

/** One fault of the catalogue with all its parameters. */
export type Fault = { [Name in FaultName]: Read<Name> }[FaultName];
/** A fault as a user writes it: what is left out has its default. */
export type FaultInput = { [Name in FaultName]: Written<Name> }[FaultName];

/** The faults that strike at one point. */
export type FaultAt<Point extends FaultPoint> = Extract<Fault, { name: NameAt<Point> }>;
type NameAt<Point extends FaultPoint> = {
  [Name in FaultName]: (typeof faultCatalogue)[Name]['at'] extends Point ? Name : never;
}[FaultName];

/** The schema of one fault, with its scope. */
export function schemaOfFault(name: FaultName): z.ZodObject {
  const { at, parameters } = faultCatalogue[name];
  return z.strictObject({ name: z.literal(name), ...parameters, ...scopes[at] });
}

/** The schema of any fault. */
export const faultSchema = z.discriminatedUnion(
  'name',
  faultNames.map(schemaOfFault) as [z.ZodObject, ...z.ZodObject[]],
) as unknown as z.ZodType<Fault, FaultInput>;

/**
 * The fault for one stream, or where it is about requests and connections to come, for its device; as far as its
 * point knows them, and unless it says otherwise itself.
 */
export function aimFault(fault: Fault, { device, stream }: { device: string; stream: number }): Fault {
  const scope = scopes[faultCatalogue[fault.name].at];
  const aim = 'stream' in scope ? { stream } : 'device' in scope ? { device } : {};
  return { ...aim, ...fault };
}

/** Whether a fault strikes at this point. */
export function strikesAt<Point extends FaultPoint>(fault: Fault, point: Point): fault is FaultAt<Point> {
  return faultCatalogue[fault.name].at === point;
}

/**
 * Reads `NAME` or `NAME:key=value,key=value`, such as `close:code=1012,after=2s,times=1`.
 * Throws `Error` saying what was expected.
 */
export function readFault(written: string): Fault {
  const [name = '', rest = ''] = splitAt(written, ':');
  const pairs = rest === '' ? [] : rest.split(',').map((pair) => splitAt(pair, '='));
  const bare = pairs.find(([key, value]) => lacksUnit(value) && isDurationOf(name, key));
  if (bare !== undefined) throw new Error(`${name}: ${bare[0]}: expected ${expectedUnit(bare[1])}`);
  const values = pairs.map(([key, value]) => [key, isRateOf(name, key) ? value : readValue(value)]);
  return parseFault({ name, ...Object.fromEntries(values) });
}

/** Checks a fault that was read from somewhere. Throws `Error` saying what was expected. */
export function parseFault(input: unknown): Fault {
  const name = (input as { name?: unknown } | null)?.name;
  if (!faultNames.includes(name as FaultName)) {
    const meant = typeof name === 'string' ? didYouMean(name, faultNames) : '';
    throw new Error(`expected a fault of the catalogue, not ${JSON.stringify(name)}${meant}`);
  }
  const result = schemaOfFault(name as FaultName).safeParse(input);
  if (result.success) return result.data as Fault;
  const [issue] = result.error.issues;
  if (issue?.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const known = Object.keys(schemaOfFault(name as FaultName).shape);
    throw new Error(`${name}: there is no setting ${JSON.stringify(key)}${didYouMean(key, known)}`);
  }
  const where = issue?.path.join('.') ?? '';
  throw new Error(`${name}: ${[where, issue?.message].filter(Boolean).join(': ')}`);
}

function isDurationOf(name: string, key: string): boolean {
  return placesOf(name)?.isDuration([key]) === true;
}

/** A rate needs its unit, and so stays text until it is read. */
function isRateOf(name: string, key: string): boolean {
  return placesOf(name)?.isRate([key]) === true;
}

function placesOf(name: string): SchemaPlaces | undefined {
  if (!faultNames.includes(name as FaultName)) return undefined;
  return createSchemaPlaces(schemaOfFault(name as FaultName));
}

function splitAt(written: string, separator: string): [string, string] {
  const at = written.indexOf(separator);
  return at < 0 ? [written, ''] : [written.slice(0, at), written.slice(at + 1)];
}

/** Numbers are numbers; anything else is text. */
function readValue(written: string): string | number {
  return /^-?\d+(\.\d+)?$/.test(written) ? Number(written) : written;
}

/** The catalogue, for documentation. */
export function describeCatalogue() {
  return faultNames.map((name) => {
    const { at, summary } = faultCatalogue[name];
    return { name, at, summary, parameters: faultParameters(name) };
  });
}

interface Property {
  default?: unknown;
  description?: string;
  [defaultMark]?: string;
}

/** What can be chosen of a fault, with its default, for documentation: the scope left out. */
function faultParameters(name: FaultName): { name: string; default: string; help: string }[] {
  const parameters: z.ZodRawShape = faultCatalogue[name].parameters;
  const { properties = {} } = z.toJSONSchema(z.object(parameters), { io: 'input', unrepresentable: 'any' });
  return Object.entries(properties).map(([key, property]) => {
    const { default: fallback, [defaultMark]: told, description = '' } = property as Property;
    return { name: key, default: String(fallback ?? told ?? ''), help: description };
  });
}

import * as z from 'zod';
import { closeCodeSchema, closeReasonSchema } from './close-code-schema.ts';
import { durationSchema } from './duration.ts';
import { after, delay, duration, type FaultPoint, type FaultSpec, fault, text, word } from './fault-spec.ts';
import { tokenRequestFaults } from './faults/token-request.ts';
import { turnTakingFaults } from './faults/turn-taking.ts';
import { networkShape } from './network.ts';

/** Other formats in which a service may send its audio. Each is named like what is found in it. */
export const replyFormats = [
  'stereo',
  'float32',
  'int32',
  'half-empty',
  'int24',
  'unsigned-16',
  'unsigned-8',
  'signed-8',
  'mulaw',
  'alaw',
  'byte-shift',
  'riff-header',
  'base64',
  'json',
] as const;

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

/** What narrows a fault down, by where it strikes: device, stream, direction and count. */
const faultScopes = {
  connection: count,
  token: { ...device, ...count },
  upgrade: count,
  authorise: { ...device, ...count },
  connected: { ...device, ...count },
  live: { ...device, ...stream, ...direction, ...count },
  audio: { ...device, ...stream, ...direction, ...count },
  reply: { ...device, ...stream, ...count },
  turn: { ...device, ...stream, ...count },
  sound: { ...device, ...stream, ...count },
} as const satisfies Record<FaultPoint, z.ZodRawShape>;

/** What can go wrong with the network beneath everything. */
const networkFaults = {
  network: fault({
    at: 'connection',
    summary: 'the network is slow, uneven, lossy or gone, in both directions; the newest one counts',
    parameters: networkShape,
  }),
} as const satisfies Record<string, FaultSpec>;

/** What can go wrong while a stream opens. */
const openingFaults = {
  // The upgrade.
  'upgrade-refused': fault({
    at: 'upgrade',
    summary: 'the upgrade is answered with an error of this status',
    parameters: { status: z.int().min(400).max(599).default(503).describe('HTTP status') },
  }),
  'upgrade-slow': fault({ at: 'upgrade', summary: 'the upgrade is answered late', parameters: delay }),
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
    summary: 'the connected message is late; audio is accepted meanwhile',
    parameters: delay,
  }),
  'connected-missing': fault({
    at: 'connected',
    summary: 'the connected message is never sent',
    parameters: {},
  }),
  'connected-malformed': fault({
    at: 'connected',
    summary: 'the connected message is cut off, so that it is not valid JSON',
    parameters: {},
  }),
  'connected-unknown': fault({
    at: 'connected',
    summary: 'a message of another kind is sent instead',
    parameters: { kind: word('service_hello', 'Kind of the message') },
  }),
} as const satisfies Record<string, FaultSpec>;

/** What can go wrong with the AI's audio. */
const replyAudioFaults = {
  mute: fault({
    at: 'audio',
    summary: 'the audio is not sent, as if the AI were silent',
    parameters: {},
  }),
  drop: fault({ at: 'audio', summary: 'the message is lost; use probability to lose some', parameters: {} }),
  duplicate: fault({ at: 'audio', summary: 'the message is sent twice', parameters: {} }),
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
    summary: 'audio is slower than real time',
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

const decibels = (fallback: number, most: number, what: string) =>
  z.number().min(-80).max(most).default(fallback).describe(what);

const leastSpacingMs = 10;
const spacing = (what: string) =>
  durationSchema
    .refine((ms) => ms >= leastSpacingMs, `expected at least ${leastSpacingMs}ms`)
    .prefault('1s')
    .describe(what);

/** What can go wrong with the sound of a whole reply. */
const replySoundFaults = {
  clicks: fault({
    at: 'reply',
    summary: 'the audio clicks',
    parameters: {
      every: spacing('From one click to the next'),
      db: decibels(-10, 0, 'Height of a click, in dBFS'),
    },
  }),
  dropouts: fault({
    at: 'reply',
    summary: 'pieces of the audio are replaced by silence',
    parameters: {
      every: spacing('From one to the next'),
      for: duration('20ms', 'Length of each'),
    },
    refuse: {
      key: 'for',
      when: ({ every, for: length }) => (length as number) >= (every as number),
      because: 'expected less than every, or nothing of the audio is left',
    },
  }),
  'cut-off': fault({
    at: 'reply',
    summary: 'the reply ends in the middle of a sound',
    parameters: { after: duration('2s', 'Time of the reply after which it ends, while it is loud') },
  }),
  hum: fault({
    at: 'reply',
    summary: 'mains hum is heard in the audio',
    parameters: {
      hz: z.int().min(20).max(1_000).default(50).describe('Frequency'),
      db: decibels(-35, 0, 'Level in dBov'),
    },
  }),
  'narrow-band': fault({
    at: 'reply',
    summary: 'the audio is like a telephone, without what is above a frequency',
    parameters: { hz: z.int().min(1_000).max(7_500).default(3_400).describe('Highest frequency') },
  }),
  level: fault({
    at: 'reply',
    summary: 'the audio is quieter or louder; what does not fit is clipped',
    parameters: { db: decibels(-20, 40, 'Change in dB') },
  }),
  format: fault({
    at: 'reply',
    summary: 'the audio has another format',
    parameters: { as: z.enum(replyFormats).default('stereo').describe('The format') },
  }),
  'user-echo': fault({
    at: 'turn',
    summary: 'the words of the user come back while they are spoken',
    parameters: {
      delay: duration('150ms', 'How much later'),
      db: decibels(-12, 0, 'How much quieter, in dB'),
    },
    notByProxy: 'it sends audio of its own, and a proxy changes only what the service sends',
  }),
} as const satisfies Record<string, FaultSpec>;

/** What can go wrong on a live stream: its messages and its end. */
const liveStreamFaults = {
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
    summary: 'the service stops reading, so that the socket of the device fills up; it goes on sending',
    parameters: after,
  }),
} as const satisfies Record<string, FaultSpec>;

export { type FaultPoint, faultPoints } from './fault-spec.ts';

/**
 * The fault catalogue: whatever a real service could do to a device, by name. The emulator injects them, the
 * command line and the control API name them, scenarios use them. Not part of the specification.
 */
export const faultCatalogue = {
  ...networkFaults,
  ...tokenRequestFaults,
  ...openingFaults,
  ...liveStreamFaults,
  ...replyAudioFaults,
  ...replySoundFaults,
  ...turnTakingFaults,
} as const satisfies Record<string, FaultSpec>;

export type FaultName = keyof typeof faultCatalogue;
export const faultNames = Object.keys(faultCatalogue) as FaultName[];

type ShapeOf<Name extends FaultName> = (typeof faultCatalogue)[Name]['parameters'];
type ScopeOf<Name extends FaultName> = (typeof faultScopes)[(typeof faultCatalogue)[Name]['at']];
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
  const { at, parameters, refuse }: FaultSpec = faultCatalogue[name];
  const schema = z.strictObject({ name: z.literal(name), ...parameters, ...faultScopes[at] });
  if (refuse === undefined) return schema;
  return schema.refine((value) => !refuse.when(value), { path: [refuse.key], message: refuse.because });
}

/**
 * The fault for one stream, or where it is about requests and connections to come, for its device; as far as its
 * point knows them, and unless it says otherwise itself.
 */
export function aimFault(fault: Fault, { device, stream }: { device: string; stream: number }): Fault {
  const scope = faultScopes[faultCatalogue[fault.name].at];
  const aim = 'stream' in scope ? { stream } : 'device' in scope ? { device } : {};
  return { ...aim, ...fault };
}

/** Why a proxy cannot make this fault; undefined if it can. */
export function whyNotByProxy({ name }: Fault): string | undefined {
  const { notByProxy }: FaultSpec = faultCatalogue[name];
  return notByProxy;
}

/** Whether a fault strikes at this point. */
export function strikesAt<Point extends FaultPoint>(fault: Fault, point: Point): fault is FaultAt<Point> {
  return faultCatalogue[fault.name].at === point;
}

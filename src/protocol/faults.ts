import * as z from 'zod';
import { closeCodeSchema, closeReasonSchema } from './close-code-schema.ts';
import { durationSchema } from './duration.ts';
import {
  afterParameter,
  delayParameter,
  durationParameter,
  type FaultPoint,
  type FaultSpec,
  fault,
  textParameter,
  wordParameter,
} from './fault-spec.ts';
import { networkShape } from './network.ts';

/** Other formats in which a service may send its audio. Each is named after the finding that reports it. */
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
  'frame-header',
  'base64',
  'json',
] as const;

/** Which opportunities a fault takes. */
const count = {
  skip: z
    .int()
    .min(1)
    .optional()
    .describe('Skips this many opportunities first; with `times`, faults strike in a fixed order'),
  times: z.int().min(1).optional().describe('Strikes this many times; default: until it is cleared'),
  probability: z
    .number()
    .gt(0)
    .max(1)
    .default(1)
    .describe('Chance of striking at each opportunity; with a seed, the same in each run'),
};
/** An upgrade does not name its device. */
const device = { device: z.string().min(1).optional().describe('Strikes only this device') };
const stream = { stream: z.int().min(1).optional().describe('Strikes only the stream with this number') };
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
  network: fault(
    'connection',
    'the network is slow, uneven, lossy or gone, in both directions; the newest of several applies',
    networkShape,
  ),
};

/** What can go wrong with a token request. */
const tokenRequestFaults = {
  'token-error': fault('token', 'the token request is answered with an error of this status and code', {
    status: z.int().min(400).max(599).default(500).describe('HTTP status'),
    code: wordParameter('INTERNAL_ERROR', 'Error code of the body'),
    message: textParameter('The service has failed', 'Error message of the body'),
  }),
  'token-unauthorized': fault('token', 'the API key is refused, in the wording of the dialect'),
  'token-unavailable': fault('token', 'the service is unavailable, in the wording of the dialect'),
  'rate-limited': fault('token', 'the device is rate limited, with the headers of an exhausted window', {
    reset: durationParameter('60s', 'Time until the window resets'),
  }),
  'token-slow': fault('token', 'the token is late', delayParameter),
  'token-hang': fault('token', 'the token request is never answered'),
  'token-reset': fault('token', 'the connection of the token request is reset'),
  'token-redirect': fault('token', 'the token request is redirected (307)', {
    location: z
      .string()
      .regex(/^[\u0021-\u007e]+$/, 'expected a URL in ASCII')
      .default('/moved')
      .describe('Target of the redirect'),
  }),
  'token-truncated': fault('token', 'the JSON body ends too early'),
  'token-html': fault('token', 'the answer is an HTML page with status 200, like one from a proxy'),
  'token-missing': fault('token', 'the body has no token'),
  'token-huge': fault('token', 'the token is 1 MiB long'),
  'token-gibberish': fault('token', 'the token is not a JWT'),
  'token-expired': fault('token', 'the token expired an hour ago; the stream will refuse it'),
  'token-future': fault(
    'token',
    'the token’s time of issue is an hour in the future; the stream will refuse it',
  ),
  'token-other-audience': fault('token', 'the token is for another audience; the stream will refuse it'),
  'token-other-issuer': fault('token', 'the token has another issuer; the stream will refuse it'),
  'token-bad-signature': fault('token', 'the signature is wrong; the stream will refuse the token'),
};

/** What can go wrong while a stream opens. */
const openingFaults = {
  // The upgrade.
  'upgrade-refused': fault('upgrade', 'the upgrade is answered with an error of this status', {
    status: z.int().min(400).max(599).default(503).describe('HTTP status'),
  }),
  'upgrade-slow': fault('upgrade', 'the upgrade is answered late', delayParameter),
  'upgrade-hang': fault('upgrade', 'the upgrade is never answered'),
  'upgrade-reset': fault('upgrade', 'the connection of the upgrade is reset'),

  // The token on the stream.
  'auth-refused': fault(
    'authorise',
    'a valid token is refused on the stream, in the wording of the dialect',
    {
      cause: z
        .enum(['tokenInvalid', 'tokenExpired', 'tokenReused'])
        .default('tokenInvalid')
        .describe('The reason that is given: invalid, expired or used before'),
    },
  ),
  'connection-limit': fault(
    'authorise',
    'the stream is refused as one connection too many, in the wording of the dialect',
  ),

  // The first message of the service.
  'connected-late': fault(
    'connected',
    'the connected message is late; audio is accepted meanwhile',
    delayParameter,
  ),
  'connected-missing': fault('connected', 'the connected message is never sent'),
  'connected-malformed': fault('connected', 'the connected message is cut off, so that it is not valid JSON'),
  'connected-unknown': fault('connected', 'a message of another kind is sent instead', {
    kind: wordParameter('service_hello', 'Kind of the message'),
  }),
};

/** What can go wrong with the AI's audio. */
const replyAudioFaults = {
  mute: fault('audio', 'the audio is not sent, as if the AI were silent'),
  drop: fault('audio', 'the message is lost; set probability to lose only some messages'),
  duplicate: fault('audio', 'the message is sent twice'),
  'odd-split': fault('audio', 'the message is split in the middle of a sample'),
  burst: fault('audio', 'messages are held and sent together', {
    every: durationParameter('500ms', 'Time from one burst to the next'),
  }),
  drip: fault('audio', 'audio is slower than real time', {
    factor: z.number().gt(0).lt(1).default(0.5).describe('Share of real time'),
  }),
  clipped: fault('audio', 'the audio is far too loud, and clipped', {
    gain: z.number().min(1).max(60).default(30).describe('Gain in dB'),
  }),
  silent: fault('audio', 'the samples are all zero'),
  'wrong-rate': fault(
    'audio',
    'the audio has another sample rate, so that the voice is too high or too low',
    { rate: z.int().min(4_000).max(96_000).default(24_000).describe('Sample rate in Hz') },
  ),
  'swapped-bytes': fault('audio', 'the samples are big-endian'),
};

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
  clicks: fault('reply', 'the audio clicks', {
    every: spacing('Time from one click to the next'),
    db: decibels(-10, 0, 'Level of a click, in dBFS'),
  }),
  dropouts: fault(
    'reply',
    'pieces of the audio are replaced by silence',
    {
      every: spacing('Time from one dropout to the next'),
      for: durationParameter('20ms', 'Length of each dropout'),
    },
    {
      refuse: {
        key: 'for',
        when: ({ every, for: length }) => (length as number) >= (every as number),
        because: 'expected less than the value of every; otherwise no audio is left',
      },
    },
  ),
  'cut-off': fault('reply', 'the reply ends in the middle of a sound', {
    after: durationParameter('2s', 'How far into the reply its audio ends, at a loud moment'),
  }),
  hum: fault('reply', 'mains hum is heard in the audio', {
    hz: z.int().min(20).max(1_000).default(50).describe('Frequency'),
    db: decibels(-35, 0, 'Level in dBov'),
  }),
  'narrow-band': fault(
    'reply',
    'the audio sounds like a telephone: everything above a frequency is removed',
    {
      hz: z.int().min(1_000).max(7_500).default(3_400).describe('Highest frequency'),
    },
  ),
  level: fault('reply', 'the audio is quieter or louder; samples beyond full scale are clipped', {
    db: decibels(-20, 40, 'Change in dB'),
  }),
  format: fault('reply', 'the audio has another format', {
    as: z.enum(replyFormats).default('stereo').describe('The format'),
  }),
  'user-echo': fault(
    'turn',
    'the user’s voice is echoed back while the user speaks',
    {
      delay: durationParameter('150ms', 'How much later'),
      db: decibels(-12, 0, 'How much quieter, in dB'),
    },
    { notByProxy: 'it sends audio of its own, and a proxy changes only what the service sends' },
  ),
};

/** What can go wrong on a live stream: its messages and its end. */
const liveStreamFaults = {
  'message-malformed': fault('live', 'a text message that is not valid JSON', afterParameter),
  'message-unknown': fault('live', 'a message of an unknown kind', {
    ...afterParameter,
    kind: wordParameter('service_unheard_of', 'Kind of the message'),
  }),
  'message-error': fault('live', 'an error message, in the wording of the dialect; the stream continues', {
    ...afterParameter,
    code: wordParameter('INTERNAL_ERROR', 'Error code'),
    message: textParameter('The service has failed', 'Error message'),
  }),
  close: fault('live', 'the stream is closed with a code', {
    ...afterParameter,
    code: closeCodeSchema.default(1011).describe('Close code'),
    reason: closeReasonSchema.default('').describe('Close reason'),
  }),
  'abnormal-close': fault('live', 'the connection ends without a close frame (1006)', afterParameter),
  reset: fault('live', 'the connection is reset', afterParameter),
  'half-open': fault(
    'live',
    'the service disappears: it sends nothing, reads nothing and answers no ping',
    afterParameter,
  ),
  stall: fault('live', 'the service sends nothing for a while, then everything at once', {
    ...afterParameter,
    for: durationParameter('3s', 'How long it sends nothing'),
  }),
  deaf: fault(
    'live',
    'the service stops reading, so that the socket of the device fills up; it continues to send',
    afterParameter,
  ),
};

/** What can go wrong with turn-taking: who stops, who waits, and who starts. */
const turnTakingFaults = {
  'false-interruption': fault(
    'reply',
    'the reply stops at any sound of the user, even a cough, and does not continue',
  ),
  'slow-yield': fault(
    'reply',
    'the reply continues for a while after an interruption',
    { by: durationParameter('700ms', 'How much later it stops') },
    { notByProxy: 'it would have to send audio that the service did not send' },
  ),
  'never-yields': fault(
    'reply',
    'the reply continues to its end, whatever the user says',
    {},
    { notByProxy: 'it would have to send audio that the service did not send' },
  ),
  'reply-lost': fault(
    'reply',
    'no reply comes if the user makes a short sound after the turn: one shorter than stream.shortestTurnMs, or one under 1 s that starts at least 700 ms later',
  ),
  'early-reply': fault(
    'turn',
    'the AI considers the turn over while the user is still speaking',
    {
      by: durationParameter(
        '400ms',
        'How long before the end of the turn, which is expected to last as long as the previous one',
      ),
      after: durationParameter('1s', 'How long after the start of the first turn of a stream'),
    },
    { notByProxy: 'only the service decides when a turn is over' },
  ),
  'answers-noise': fault(
    'sound',
    'the AI replies to a sound that is not a turn: it repeats its last reply',
    { delay: durationParameter('1s', 'How long after the sound') },
    { notByProxy: 'it would have to send audio that the service did not send' },
  ),
};

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
/** An empty object type would exclude all other keys. */
type OutputOf<Shape extends z.ZodRawShape> = keyof Shape extends never
  ? unknown
  : z.output<z.ZodObject<Shape>>;
type InputOf<Shape extends z.ZodRawShape> = keyof Shape extends never ? unknown : z.input<z.ZodObject<Shape>>;
type Read<Name extends FaultName> = { name: Name } & OutputOf<ShapeOf<Name>> & OutputOf<ScopeOf<Name>>;
type Written<Name extends FaultName> = { name: Name } & InputOf<ShapeOf<Name>> & InputOf<ScopeOf<Name>>;

/** One fault from the catalogue with all its parameters. */
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

/** Aims a fault at a stream, or at its device if no stream is given or its point knows none, unless it is aimed already. */
export function aimFault<Aimed extends FaultInput>(
  fault: Aimed,
  { device, stream }: { device: string; stream?: number },
): Aimed {
  const own: { name: string; device?: string | undefined; stream?: number | undefined } = fault;
  if (own.stream !== undefined || own.device !== undefined) return fault;
  const scope = faultScopes[faultCatalogue[fault.name].at];
  const aim = stream !== undefined && 'stream' in scope ? { stream } : 'device' in scope ? { device } : {};
  return { ...fault, ...aim };
}

/** Why a proxy refuses a fault; undefined if it can cause it. */
export function proxyRefusal({ name }: Fault): string | undefined {
  const { notByProxy }: FaultSpec = faultCatalogue[name];
  return notByProxy && `A proxy cannot produce ${name}: ${notByProxy}`;
}

/** Why an emulator refuses a fault; undefined if it can cause it. */
export function emulatorRefusal(fault: Fault): string | undefined {
  const isOfProxy = 'direction' in fault && fault.direction === 'service';
  return isOfProxy
    ? `An emulator cannot produce ${fault.name} with direction=service: only a proxy has that side`
    : undefined;
}

/** Whether a fault strikes at this point. */
export function strikesAt<Point extends FaultPoint>(fault: Fault, point: Point): fault is FaultAt<Point> {
  return faultCatalogue[fault.name].at === point;
}

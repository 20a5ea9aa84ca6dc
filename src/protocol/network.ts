import * as z from 'zod';
import { durationSchema } from './duration.ts';
import { defaultMark, rateMark } from './schema-places.ts';
import { didYouMean } from './suggestion.ts';

/**
 * The network between a device and the service, as far as an emulator or a proxy can imitate it on a TCP connection. Not part
 * of the specification.
 */

/** The network of one connection. */
export interface NetworkQuality {
  /** Milliseconds in each direction. */
  latency: number;
  /** How far the latency of a packet varies, either way. */
  jitter: number;
  /** Chance that a packet is lost, and is retransmitted later. */
  loss: number;
  /** Bits per second from the service to the device; 0: nothing passes. Undefined: as fast as possible. */
  rate: number | undefined;
  /** Bits per second from the device to the service. */
  upload: number | undefined;
}

const kbit = 1_000;
const mbit = 1_000_000;
const perfect: NetworkQuality = { latency: 0, jitter: 0, loss: 0, rate: undefined, upload: undefined };

/** Networks by name. Rates and round trips of mobile networks are those of WebPageTest; jitter and loss are ours. */
export const networkProfiles = {
  none: perfect,
  edge: { latency: 420, jitter: 60, loss: 0.01, rate: 240 * kbit, upload: 200 * kbit },
  'slow-3g': { latency: 200, jitter: 50, loss: 0.01, rate: 400 * kbit, upload: 400 * kbit },
  '3g': { latency: 150, jitter: 30, loss: 0.005, rate: 1.6 * mbit, upload: 768 * kbit },
  'fast-3g': { latency: 75, jitter: 20, loss: 0.002, rate: 1.6 * mbit, upload: 768 * kbit },
  '4g': { latency: 85, jitter: 15, loss: 0.001, rate: 9 * mbit, upload: 9 * mbit },
  lte: { latency: 35, jitter: 10, loss: 0.001, rate: 12 * mbit, upload: 12 * mbit },
  'lossy-wifi': { latency: 15, jitter: 12, loss: 0.05, rate: 20 * mbit, upload: 20 * mbit },
  satellite: { latency: 300, jitter: 20, loss: 0.005, rate: 15 * mbit, upload: 3 * mbit },
  offline: { ...perfect, rate: 0, upload: 0 },
} as const satisfies Record<string, NetworkQuality>;

export type NetworkProfile = keyof typeof networkProfiles;
export const networkProfileNames = Object.keys(networkProfiles) as NetworkProfile[];

const expectedRate = 'a rate with its unit, such as 400kbit or 2Mbit, or 0: nothing passes';
const expectedShare = 'a share from 0 up to 1, such as 0.02 or 2%';
const units: Readonly<Record<string, number>> = { bit: 1, kbit, mbit, gbit: 1_000 * mbit };

/** Bits per second of `400kbit` (a second), `2Mbit` or `0`; undefined for anything else. */
export function readRate(written: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,9}(?:\.\d{1,6})?) ?([kmg]?bit)(?:\/s)?$/i.exec(written) ?? [];
  if (digits !== '') return Number(digits) * (units[unit.toLowerCase()] ?? 1);
  return written === '0' ? 0 : undefined;
}

/** The share in `0.02` or `2%`; undefined for anything else. */
function readShare(written: string): number | undefined {
  const [, digits = '', percent] = /^(\d{1,3}(?:\.\d{1,9})?)(%)?$/.exec(written) ?? [];
  if (digits === '') return undefined;
  return percent === undefined ? Number(digits) : Number(digits) / 100;
}

/** A number in a program, text with a unit where a user writes it. */
const measured = (read: (written: string) => number | undefined, what: string, below: number) =>
  z.union([z.number(), z.string()]).transform((value, context) => {
    const number = typeof value === 'string' ? read(value) : value;
    if (number !== undefined && number >= 0 && number < below) return number;
    context.addIssue({ code: 'custom', message: `expected ${what}` });
    return z.NEVER;
  });

const ofProfile = { [defaultMark]: 'from the profile' };
const rateSchema = measured(readRate, expectedRate, Number.POSITIVE_INFINITY);
const ofRate = { ...ofProfile, [rateMark]: true };

/** The settings of a network: a profile, and what differs from it. */
export const networkShape = {
  profile: z
    .enum(networkProfileNames as [NetworkProfile, ...NetworkProfile[]], {
      error: ({ input }) =>
        `expected one of ${networkProfileNames.join(', ')}${didYouMean(String(input), networkProfileNames)}`,
    })
    .default('none')
    .describe(`One of ${networkProfileNames.join(', ')}`),
  latency: durationSchema
    .optional()
    .meta({ ...ofProfile, description: 'In each direction; a round trip takes twice as long' }),
  jitter: durationSchema
    .optional()
    .meta({ ...ofProfile, description: 'How far the latency varies, either way' }),
  loss: measured(readShare, expectedShare, 1)
    .optional()
    .meta({
      ...ofProfile,
      description: 'Share of packets that are lost, and are retransmitted later: 2% or 0.02',
    }),
  rate: rateSchema.optional().meta({
    ...ofRate,
    description: 'Bits per second in each direction, such as 400kbit; 0: nothing passes',
  }),
  upload: rateSchema
    .optional()
    .meta({ ...ofRate, description: 'From the device to the service, if that differs' }),
};

type NetworkInput = z.output<z.ZodObject<typeof networkShape>>;

/** The quality that the settings specify. */
export function networkQuality(given: NetworkInput): NetworkQuality {
  const base: NetworkQuality = networkProfiles[given.profile];
  return {
    latency: given.latency ?? base.latency,
    jitter: given.jitter ?? base.jitter,
    loss: given.loss ?? base.loss,
    rate: given.rate ?? base.rate,
    upload: given.upload ?? given.rate ?? base.upload,
  };
}

/** The fault for what `--network` takes: a profile, settings, or both, as in `slow-3g,loss=2%`. */
export function networkFault(written: string): string {
  const settings = written.startsWith('network:') ? written.slice('network:'.length) : written;
  const [first = ''] = settings.split(',', 1);
  return `network:${first.includes('=') ? '' : 'profile='}${settings}`;
}

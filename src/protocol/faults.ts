import * as z from 'zod';
import type { FaultPoint, FaultSpec } from './faults/fault-spec.ts';
import { liveStreamFaults } from './faults/live-stream.ts';
import { networkFaults } from './faults/network.ts';
import { openingFaults } from './faults/opening.ts';
import { replyAudioFaults } from './faults/reply-audio.ts';
import { faultScopes } from './faults/scopes.ts';
import { tokenRequestFaults } from './faults/token-request.ts';

export { type FaultPoint, faultPoints } from './faults/fault-spec.ts';

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
  const { at, parameters } = faultCatalogue[name];
  return z.strictObject({ name: z.literal(name), ...parameters, ...faultScopes[at] });
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

/** Whether a fault strikes at this point. */
export function strikesAt<Point extends FaultPoint>(fault: Fault, point: Point): fault is FaultAt<Point> {
  return faultCatalogue[fault.name].at === point;
}

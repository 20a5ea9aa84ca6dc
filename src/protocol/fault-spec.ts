import * as z from 'zod';
import { durationSchema } from './duration.ts';

/** Where a fault strikes. Its count and its probability refer to these opportunities. */
export const faultPoints = {
  connection: 'each new connection of a device, until it ends',
  token: 'each token request with a valid body',
  upgrade: 'each WebSocket upgrade',
  authorise: 'each token that is presented on a stream',
  connected: 'each stream, when it is confirmed',
  live: 'each stream when it becomes live, and immediately all streams that are live when the fault is added',
  audio: 'each message of AI audio',
  reply: 'each reply of the AI, which begins after half a second without audio',
  turn: 'each turn of the user',
  sound: 'each sound of the user that is shorter than a second, with nothing after it',
} as const;

export type FaultPoint = keyof typeof faultPoints;

/** One fault from the catalogue: where it strikes, what happens, and its parameters. */
export interface FaultSpec {
  at: FaultPoint;
  summary: string;
  parameters: z.ZodRawShape;
  /** Parameters that are invalid together: the one to name, and what was expected of it. */
  refuse?: { key: string; when: (parameters: Record<string, unknown>) => boolean; because: string };
  /** Why a proxy cannot make it. Default: it can. */
  notByProxy?: string;
}

/** A fault for the catalogue. Keeps the names and types of its parameters. */
export function fault<
  const At extends FaultPoint,
  const Parameters extends z.ZodRawShape = Record<never, never>,
>(
  at: At,
  summary: string,
  parameters = {} as Parameters,
  more: Pick<FaultSpec, 'refuse' | 'notByProxy'> = {},
) {
  return { at, summary, parameters, ...more };
}

// Parameters, each with its default and what it means.
export const durationParameter = (fallback: string, what: string) =>
  durationSchema.prefault(fallback).describe(what);
export const textParameter = (fallback: string, what: string) => z.string().default(fallback).describe(what);
export const wordParameter = (fallback: string, what: string) =>
  z.string().min(1).default(fallback).describe(what);
export const delayParameter = { delay: durationParameter('3s', 'The delay') };
export const afterParameter = { after: durationParameter('0ms', 'Time after the stream becomes live') };

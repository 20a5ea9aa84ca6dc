import { closeCodes } from '../../protocol/close-codes.ts';
import type { StreamEnd } from '../../wire/exchange.ts';
import type { Seen } from '../rule.ts';
import {
  confirmationOf,
  type FirstMessage,
  isOpened,
  isServiceEnd,
  type SeenStream,
  streamsSeen,
  tokenMessage,
} from '../stream-seen.ts';
import { httpRequests, type SeenToken } from '../token-seen.ts';

/** What a device sent to the token endpoint, by any method; a browser's preflight is not from the device. */
export function deviceRequests(seen: readonly Seen[]): SeenToken[] {
  return httpRequests(seen)
    .filter(({ exchange }) => exchange.request.method !== 'OPTIONS')
    .sort((a, b) => a.exchange.at - b.exchange.at);
}

/** When the answer was complete. */
export function answeredAt({ exchange }: SeenToken): number {
  return exchange.at + exchange.totalMs;
}

/** Opened connections of a device, in the order of time. */
export function connections(seen: readonly Seen[]): SeenStream[] {
  return streamsSeen(seen)
    .filter(isOpened)
    .sort((a, b) => a.exchange.upgrade.at - b.exchange.upgrade.at);
}

/** Those that were confirmed. */
export function confirmedConnections(seen: readonly Seen[]): SeenStream[] {
  return connections(seen).filter((stream) => confirmationOf(stream) !== undefined);
}

/** A token that a device presented. */
export interface ShownToken {
  stream: SeenStream;
  message: FirstMessage;
  /** Whether the stream was confirmed. */
  confirmed: boolean;
  /** Whether the service ended the stream instead of confirming it. */
  refused: boolean;
}

/** Every token that was presented, in the order of time. */
export function shownTokens(seen: readonly Seen[]): ShownToken[] {
  return connections(seen).flatMap((stream) => {
    const message = tokenMessage(stream);
    if (message === undefined) return [];
    const confirmed = confirmationOf(stream) !== undefined;
    const refused = !confirmed && isServiceEnd(stream.exchange.end);
    return [{ stream, message, confirmed, refused }];
  });
}

/** A token by its `jti`, or if it has none by the start of its hash. */
export function tokenName({ token }: FirstMessage): string {
  const jti = token.claims?.jti;
  return typeof jti === 'string' ? `jti ${jti}` : `token ${token.hash.slice(0, 8)}…`;
}

/** A confirmed stream that broke, or that the service did not end normally. */
export type Interruption = SeenStream & { exchange: { end: StreamEnd } };

function isInterrupted(stream: SeenStream): stream is Interruption {
  return stream.exchange.end?.by === 'service' && stream.exchange.end.code !== closeCodes.normal;
}

/** Those of a device, in the order of their ends. */
export function interruptions(seen: readonly Seen[]): Interruption[] {
  return confirmedConnections(seen)
    .filter(isInterrupted)
    .sort((a, b) => a.exchange.end.at - b.exchange.end.at);
}

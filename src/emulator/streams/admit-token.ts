import type { TokenClaims } from '../../protocol/claims.ts';
import type { CloseCause, Dialect } from '../../protocol/dialect.ts';
import type { TokenProblem } from '../../protocol/first-message.ts';
import type { Faults } from '../../service/faults/faults.ts';
import type { SlotLease, State } from '../../service/state/state.ts';
import { isUnavailable } from '../../service/state/unavailable.ts';
import type { TokenAuthority } from '../tokens/token-authority.ts';
import type { StreamConnection } from './connection.ts';
import type { TokenUses } from './token-uses.ts';

export interface AdmitOptions {
  connection: StreamConnection;
  authority: TokenAuthority;
  state: Pick<State, 'leaseSlot' | 'spendToken'>;
  faults: Faults;
  settings: Dialect['stream'];
  /** Connections per device. */
  maxConnections: number;
  uses: TokenUses;
  /** Whether the service has as many streams as the dialect allows. */
  isFull: () => boolean;
  /** Closes the oldest stream of the device. */
  evictOldest: (device: string) => void;
}

export interface RefusedAdmission extends TokenProblem {
  refused: CloseCause;
  device?: string;
  jti?: string;
}

/** The claims and the slot of an accepted token, or why it is refused. */
export type Decision = { claims: TokenClaims; lease: SlotLease } | RefusedAdmission;

/**
 * Decides on a token that a client sent. Undefined if the connection has ended meanwhile: it neither keeps a slot nor
 * uses up its token. Specification: "Authentication" and "Limits".
 */
export async function admitToken(token: string, options: AdmitOptions): Promise<Decision | undefined> {
  const { authority, faults, connection, settings, isFull } = options;
  const verified = await authority.verify(token);
  if (!verified.ok) {
    const { cause, ok: _, ...problem } = verified;
    return { refused: cause, ...problem };
  }
  const { claims } = verified;
  const device = claims.sub;
  if (connection.ended) return undefined;
  const [fault] = faults.strike('authorise', { device, stream: connection.id });
  if (fault !== undefined) {
    const refused = fault.name === 'connection-limit' ? 'tooManyConnections' : fault.cause;
    return { refused, device, jti: claims.jti, why: `the fault ${fault.name} strikes`, advice: 'try again' };
  }
  if (settings.capacity.refuseAt === 'token' && isFull()) {
    const why = `all ${settings.capacity.connections} connections of the service are in use`;
    return { refused: 'unavailable', device, jti: claims.jti, why, advice: 'try again later' };
  }
  try {
    return await takeSlot(claims, options);
  } catch (thrown) {
    if (!isUnavailable(thrown)) throw thrown;
    return { refused: 'unavailable', device, why: thrown.message, advice: 'try again later' };
  }
}

/** Takes the slot first: without a free slot the token stays unused. Each step is atomic in the state. */
async function takeSlot(claims: TokenClaims, options: AdmitOptions): Promise<Decision | undefined> {
  const { state, connection, settings, evictOldest } = options;
  const leaseSlot = async () => {
    const leased = state.leaseSlot(claims.sub);
    const lease = leased instanceof Promise ? await leased : leased;
    if (lease === undefined) return undefined;
    connection.onEnding(lease.release);
    lease.onLost?.(() => connection.close('tooManyConnections', 'another connection has its slot'));
    return lease;
  };
  const free = await leaseSlot();
  if (connection.ended) return undefined;
  if (free === undefined && settings.connectionLimit !== 'evict-oldest') return tooMany(claims, options);
  const spent = state.spendToken(claims);
  const isFirstUse = spent instanceof Promise ? await spent : spent;
  if (!isFirstUse) {
    free?.release();
    return reused(claims, options);
  }
  // Evict only for a token that opens a stream.
  if (free === undefined) evictOldest(claims.sub);
  const lease = free ?? (await leaseSlot());
  return lease === undefined ? tooMany(claims, options) : { claims, lease };
}

function tooMany({ sub: device, jti }: TokenClaims, { maxConnections }: AdmitOptions): RefusedAdmission {
  const why = `${device} has ${maxConnections} of ${maxConnections} connections open`;
  return { refused: 'tooManyConnections', device, jti, why, advice: 'close one first' };
}

function reused({ sub: device, jti }: TokenClaims, { uses }: AdmitOptions): RefusedAdmission {
  const stream = uses.streamOf(jti);
  const why = stream === undefined ? 'the token was used before' : `the token was used by stream ${stream}`;
  return { refused: 'tokenReused', device, jti, why, advice: 'request a new token for each connection' };
}

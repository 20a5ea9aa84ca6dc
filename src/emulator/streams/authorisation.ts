import type { RawData } from 'ws';
import type { Clock } from '../../kernel/clock.ts';
import type { TokenClaims } from '../../protocol/claims.ts';
import type { CloseCause, Dialect } from '../../protocol/dialect.ts';
import type { Faults } from '../faults/faults.ts';
import type { SlotLease, State } from '../state/state.ts';
import type { TokenAuthority } from '../tokens/token-authority.ts';
import type { Connection } from './connection.ts';

/** Takes a message of a client, as it arrived. */
export type TakeMessage = (data: Buffer, isBinary: boolean) => void;

export interface AuthorisationOptions {
  connection: Connection;
  clock: Clock;
  authority: TokenAuthority;
  state: Pick<State, 'leaseSlot' | 'spendToken'>;
  faults: Faults;
  settings: Dialect['stream'];
  /** Whether the service has as many streams as the dialect lets it have. */
  isFull: () => boolean;
  /** Closes the oldest stream of the device. */
  evictOldest: (device: string) => void;
  /**
   * The token was accepted and a slot taken, which is released when the connection ends. The result takes
   * each message but the token: first those that arrived meanwhile, in order. `connections`: of the device, with this one.
   */
  onAuthorised: (claims: TokenClaims, connections: number) => TakeMessage;
}

/** Messages that are held beside the dialect's bound on their bytes: a message costs memory even when it is empty. */
const maxHeldMessages = 4_096;

/**
 * Waits for the first text message, which is the JWT. Specification: "Authentication". Audio that arrives
 * before the token is verified is held, within a bound, and lost to nobody.
 */
export function awaitToken(options: AuthorisationOptions): void {
  const { connection, clock, settings, onAuthorised } = options;
  const held: Parameters<TakeMessage>[] = [];
  let heldBytes = 0;
  let presented = false;
  let take: TakeMessage = (data, isBinary) => {
    const isToken = !presented && (!isBinary || settings.binaryToken !== 'audio');
    if (isToken) {
      presented = true;
      deadline.cancel();
      if (isBinary && settings.binaryToken === 'refuse') connection.close('tokenInvalid');
      else present(data.toString());
      return;
    }
    held.push([data, isBinary]);
    heldBytes += data.length;
    if (heldBytes > settings.earlyAudioBytes || held.length > maxHeldMessages)
      connection.close('earlyAudioOverflow');
  };

  const present = async (token: string) => {
    const decision = await decide(token, options);
    if (decision === undefined || connection.ended) return;
    if ('refused' in decision) {
      connection.close(decision.refused);
      return;
    }
    take = onAuthorised(decision.claims, decision.lease.connections);
    for (const message of held.splice(0)) take(...message);
  };

  const deadline = clock.after(settings.tokenDeadlineMs, () => connection.close('tokenTimeout'));
  connection.onEnding(() => {
    deadline.cancel();
    held.length = 0;
    // Nothing is heard of a connection that is closing, though its messages still come in.
    take = () => {};
  });
  connection.socket.on('message', (data: RawData, isBinary) => take(data as Buffer, isBinary));
}

type Decision = { claims: TokenClaims; lease: SlotLease } | { refused: CloseCause };

/** Undefined where the connection is gone meanwhile: it neither keeps a slot nor uses up its token. */
async function decide(token: string, options: AuthorisationOptions): Promise<Decision | undefined> {
  const { authority, faults, connection, settings, isFull } = options;
  const verified = await authority.verify(token);
  if (!verified.ok) return { refused: verified.cause };
  const { claims } = verified;
  if (connection.ended) return undefined;
  const [fault] = faults.take('authorise', { device: claims.sub, stream: connection.id });
  if (fault !== undefined) {
    return { refused: fault.name === 'connection-limit' ? 'tooManyConnections' : fault.cause };
  }
  if (settings.capacity.refuseAt === 'token' && isFull()) return { refused: 'unavailable' };
  return takeSlot(claims, options);
}

/** The slot first: a connection that finds none leaves its token unused. Each step is atomic in the state. */
async function takeSlot(
  claims: TokenClaims,
  { state, connection, settings, evictOldest }: AuthorisationOptions,
): Promise<Decision | undefined> {
  const leaseSlot = async () => {
    const leased = state.leaseSlot(claims.sub);
    const lease = leased instanceof Promise ? await leased : leased;
    if (lease !== undefined) connection.onEnding(lease.release);
    return lease;
  };
  const free = await leaseSlot();
  if (connection.ended) return undefined;
  if (free === undefined && settings.connectionLimit !== 'evict-oldest')
    return { refused: 'tooManyConnections' };
  const spent = state.spendToken(claims);
  const isFirstUse = spent instanceof Promise ? await spent : spent;
  if (!isFirstUse) {
    free?.release();
    return { refused: 'tokenReused' };
  }
  // Nobody is evicted for a token that opens no stream.
  if (free === undefined) evictOldest(claims.sub);
  const lease = free ?? (await leaseSlot());
  return lease === undefined ? { refused: 'tooManyConnections' } : { claims, lease };
}

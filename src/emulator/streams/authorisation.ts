import type { RawData } from 'ws';
import type { Clock } from '../../kernel/clock.ts';
import type { TokenClaims } from '../../protocol/claims.ts';
import type { CloseCause, Dialect } from '../../protocol/dialect.ts';
import type { Faults } from '../faults/faults.ts';
import type { ConnectionSlots } from '../state/connection-slots.ts';
import type { TokenAuthority } from '../tokens/token-authority.ts';
import type { Connection } from './connection.ts';

/** Takes a message of a client, as it arrived. */
export type TakeMessage = (data: Buffer, isBinary: boolean) => void;

export interface AuthorisationOptions {
  connection: Connection;
  clock: Clock;
  authority: TokenAuthority;
  slots: ConnectionSlots;
  faults: Faults;
  settings: Dialect['stream'];
  /**
   * The token was accepted and a slot taken, which is released when the connection ends. The result takes
   * each message but the token: first those that arrived meanwhile, in order.
   */
  onAuthorised: (claims: TokenClaims) => TakeMessage;
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
    if (!presented && !isBinary) {
      presented = true;
      deadline.cancel();
      present(data.toString());
      return;
    }
    held.push([data, isBinary]);
    heldBytes += data.length;
    if (heldBytes > settings.earlyAudioBytes || held.length > maxHeldMessages)
      connection.close('earlyAudioOverflow');
  };

  const present = async (token: string) => {
    const decision = await decide(token, options);
    if (connection.ended) return;
    if ('refused' in decision) {
      connection.close(decision.refused);
      return;
    }
    take = onAuthorised(decision.claims);
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

type Decision = { claims: TokenClaims } | { refused: CloseCause };

async function decide(
  token: string,
  { authority, slots, faults, connection }: AuthorisationOptions,
): Promise<Decision> {
  const verified = await authority.verify(token);
  if (!verified.ok) return { refused: verified.cause };
  const { claims } = verified;
  // A connection that is gone neither takes a slot nor uses up its token.
  if (connection.ended) return { claims };
  const [fault] = faults.take('authorise', { device: claims.sub, stream: connection.id });
  if (fault !== undefined) {
    return { refused: fault.name === 'connection-limit' ? 'tooManyConnections' : fault.cause };
  }
  // From here to the end without an await: neither a slot nor a token can be taken twice.
  const slot = slots.take(claims.sub);
  if (slot === undefined) return { refused: 'tooManyConnections' };
  if (!authority.spend(claims)) {
    slot.release();
    return { refused: 'tokenReused' };
  }
  connection.onEnding(slot.release);
  return { claims };
}

import type { RawData } from 'ws';
import type { MessageArrival } from '../../audio/verdict/pace-check.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { TokenClaims } from '../../protocol/claims.ts';
import type { CloseCause, Dialect } from '../../protocol/dialect.ts';
import {
  absenceProblem,
  firstBinaryProblem,
  holdsBinaryToken,
  type TokenProblem,
} from '../../protocol/first-message.ts';
import { connectedKind } from '../../protocol/messages.ts';
import type { EmulatorEvents } from '../../service/events.ts';
import type { Faults } from '../../service/faults/faults.ts';
import { type Eventual, isUnavailable, type SlotLease, type State } from '../../service/state/state.ts';
import type { TokenAuthority } from '../tokens/token-authority.ts';
import { readUnverified } from '../tokens/token-problem.ts';
import type { StreamConnection } from './connection.ts';
import { maxHeldMessages } from './early-bytes.ts';

/** Takes a message of a device. `arrival`: if it did not arrive just now. */
export type ReceiveMessage = (data: Buffer, isBinary: boolean, arrival?: MessageArrival) => void;

export interface AuthorisationOptions extends AdmitOptions {
  /** Called with what is thrown after the token was awaited: the stream cannot go on. */
  onThrown: (thrown: unknown) => void;
  clock: Clock;
  events: EmulatorEvents;
  /**
   * Called when the token is accepted and a slot is taken. The slot is released when the connection ends. The result takes
   * every later message, beginning with those that arrived meanwhile; it is a promise if the confirmation is late.
   * `connections`: those of the device, including this one.
   */
  onAuthorised: (claims: TokenClaims, connections: number) => Eventual<ReceiveMessage>;
}

/** A device without a token is reported after this time, long before the usual deadline. */
const lateMs = 2_000;

/**
 * Waits for the first text message, which is the JWT. Specification: "Authentication". Audio that arrives
 * before the token is verified is held, within a bound, and processed afterwards.
 */
export function awaitToken(options: AuthorisationOptions): void {
  const { connection, settings, onAuthorised } = options;
  const held: Parameters<ReceiveMessage>[] = [];
  const maxHeld = maxHeldMessages(settings.earlyAudioBytes);
  let heldBytes = 0;
  let presented = false;
  /** A binary message that holds the token came first. */
  let wrongForm: RefusedAdmission | undefined;
  const report = (problem: RefusedAdmission) => emitProblem(options, problem);

  const receive: ReceiveMessage = (data, isBinary) => {
    if (presented || (isBinary && settings.binaryToken === 'audio')) hold(data, isBinary);
    else {
      presented = true;
      stopTimers();
      if (isBinary && settings.binaryToken === 'refuse') refuse(binaryFirst(data));
      else present(data.toString()).catch(options.onThrown);
    }
  };
  let current = receive;

  const hold: ReceiveMessage = (data, isBinary) => {
    const isFirst = held.length === 0 && !presented;
    held.push([data, isBinary, connection.device.arrival()]);
    heldBytes += data.length;
    if (isFirst && holdsBinaryToken(data)) {
      wrongForm = binaryFirst(data);
      report(wrongForm);
    }
    if (heldBytes <= settings.earlyAudioBytes && held.length <= maxHeld) return;
    refuse({
      refused: 'earlyAudioOverflow',
      why: `${held.length} binary messages (${heldBytes} bytes) arrived before the stream was confirmed`,
      advice: `send audio after ${connectedKind}`,
    });
  };

  const refuse = (problem: RefusedAdmission) => {
    report(problem);
    connection.close(problem.refused, `${problem.why}: ${problem.advice}`);
  };

  const present = async (token: string) => {
    connection.token = token;
    const decision = await admitToken(token, options);
    if (decision === undefined || connection.ended) return;
    if ('refused' in decision) {
      refuse(decision);
      return;
    }
    options.uses.remember(decision.claims.jti, connection.id);
    const begun = onAuthorised(decision.claims, decision.lease.connections);
    const taken = begun instanceof Promise ? await begun : begun;
    if (connection.ended) return;
    current = taken;
    for (const message of held.splice(0)) current(...message);
  };

  const stopTimers = startDeadlines(options, {
    report,
    wrongForm: () => wrongForm,
    heldMessages: () => held.length,
  });
  connection.onEnding(() => {
    stopTimers();
    held.length = 0;
    // Messages of a closing connection still arrive; they are ignored.
    current = () => {};
  });
  connection.socket.on('message', (data: RawData, isBinary) => current(data as Buffer, isBinary));
}

/** Reports a token that is late, and closes the connection at the deadline. Returns a function that stops both. */
function startDeadlines(
  { connection, clock, settings }: AuthorisationOptions,
  state: {
    report: (problem: RefusedAdmission) => void;
    wrongForm: () => RefusedAdmission | undefined;
    heldMessages: () => number;
  },
): () => void {
  const missing = (waitedMs: number): RefusedAdmission => {
    const { why, advice } = absenceProblem(connection.tokenElsewhere, state.heldMessages());
    const limit = `within ${settings.tokenDeadlineMs / 1000} s (${waitedMs / 1000} s have passed)`;
    return { refused: 'tokenTimeout', why, advice: `${advice}, ${limit}` };
  };
  const lateAt = Math.min(lateMs, settings.tokenDeadlineMs);
  let isReported = false;
  const reportLate = () => {
    if (!isReported && state.wrongForm() === undefined) state.report(missing(lateAt));
    isReported = true;
  };
  const late = clock.after(lateAt, reportLate);
  const deadline = clock.after(settings.tokenDeadlineMs, () => {
    const { why, advice } = state.wrongForm() ?? missing(settings.tokenDeadlineMs);
    // Of two timers that are due within a millisecond either may come first.
    reportLate();
    connection.close('tokenTimeout', `${why}: ${advice}`);
  });
  return () => {
    late.cancel();
    deadline.cancel();
  };
}

function binaryFirst(data: Buffer): RefusedAdmission {
  const { sub } = readUnverified(data.toString('latin1'));
  return {
    refused: 'tokenInvalid',
    ...firstBinaryProblem(data.length, holdsBinaryToken(data)),
    ...(sub === undefined ? {} : { device: sub }),
  };
}

function emitProblem({ connection, events }: AuthorisationOptions, problem: RefusedAdmission): void {
  const { id: stream, remote } = connection;
  const { refused: cause, why, advice, device, jti } = problem;
  const named = { ...(device === undefined ? {} : { device }), ...(jti === undefined ? {} : { jti }) };
  events.emit({ type: 'token-problem', stream, remote, ...named, cause, why, advice });
}

interface AdmitOptions {
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

interface RefusedAdmission extends TokenProblem {
  refused: CloseCause;
  device?: string;
  jti?: string;
}

/** The claims and the slot of an accepted token, or why it is refused. */
type Decision = { claims: TokenClaims; lease: SlotLease } | RefusedAdmission;

/**
 * Decides on a token that a device sent. Undefined if the connection has ended meanwhile: it neither keeps a slot nor
 * uses up its token. Specification: "Authentication" and "Limits".
 */
async function admitToken(token: string, options: AdmitOptions): Promise<Decision | undefined> {
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
    return await reserveSlot(claims, options);
  } catch (thrown) {
    if (!isUnavailable(thrown)) throw thrown;
    return { refused: 'unavailable', device, why: thrown.message, advice: 'try again later' };
  }
}

/** Takes the slot first: without a free slot the token stays unused. Each step is atomic in the state. */
async function reserveSlot(claims: TokenClaims, options: AdmitOptions): Promise<Decision | undefined> {
  const { state, connection, settings, evictOldest } = options;
  const leaseSlot = async () => {
    const leased = state.leaseSlot(claims.sub);
    const lease = leased instanceof Promise ? await leased : leased;
    if (lease === undefined) return undefined;
    connection.onEnding(lease.release);
    lease.onLost?.(() => connection.close('tooManyConnections', 'another connection took its slot'));
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

/** Which stream each token opened, for the message about a second use. */
export interface TokenUses {
  remember(jti: string, stream: number): void;
  streamOf(jti: string): number | undefined;
}

/** Maximum number of uses that are remembered; beyond it the oldest are dropped. */
const maxUses = 10_000;

export function createTokenUses(): TokenUses {
  const uses = new Map<string, number>();
  return {
    remember(jti, stream) {
      uses.set(jti, stream);
      const [oldest] = uses.keys();
      if (uses.size > maxUses && oldest !== undefined) uses.delete(oldest);
    },
    streamOf: (jti) => uses.get(jti),
  };
}

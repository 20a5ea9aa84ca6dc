import { randomUUID } from 'node:crypto';
import { parseRedisUrl } from '../../config/parse.ts';
import { messageOf, VoicectlError } from '../../kernel/errors.ts';
import { tlsProblem } from '../../wire/client/connection-error.ts';
import type { RedisConnection } from './connection.ts';
import {
  differenceError,
  type Identity,
  type IdentityFacts,
  type SharedSecrets,
  secretsOf,
} from './identity.ts';
import { joinScript } from './scripts/life.ts';

/** Throws `usage` unless this is the address of a Redis. The error does not repeat it: it may hold a password. */
export function checkUrl(url: string): void {
  try {
    parseRedisUrl(url);
  } catch {
    throw new VoicectlError('usage', 'The address of the shared state is not a redis:// or rediss:// URL', {
      hint: 'Write it as redis://USER:PASSWORD@HOST:PORT/NUMBER, with / ? # @ and % in the password escaped as %2F %3F %23 %40 and %25.',
    });
  }
}

/** The address of a Redis without its password. */
function shownUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

/** What Redis knows of a service. */
export interface KnownService {
  /** Whether this emulator has just created it. */
  isAnew: boolean;
  life: string;
  secrets: SharedSecrets;
  /** Its clock, milliseconds ahead of the time of day. */
  offset: number;
  /** The active faults, as Redis has them. */
  faults: string;
}

/** Reads an answer of the scripts that join and return. Throws `bad-config` if the service has other settings. */
export function readService(answer: readonly unknown[], identity: Identity): KnownService {
  const [how, life, theirs, secrets, offset, faults] = answer;
  if (how === 'differs') throw differenceError(JSON.parse(String(theirs)) as Identity, identity);
  return {
    isAnew: how === 'anew',
    life: String(life),
    secrets: JSON.parse(String(secrets)) as SharedSecrets,
    offset: Number(offset),
    faults: String(faults),
  };
}

interface JoinFacts {
  url: string;
  /** Id of this emulator. */
  emulator: string;
  identity: Identity;
  facts: IdentityFacts;
}

/** Joins a service, or creates it. Closes the connection if it may not. */
export async function joinSharedService(
  connection: RedisConnection,
  names: readonly string[],
  { url, emulator, identity, facts }: JoinFacts,
): Promise<KnownService & { number: number }> {
  const args = [
    ...[randomUUID(), JSON.stringify(identity), JSON.stringify(secretsOf(facts))],
    ...[JSON.stringify(initialFaults(facts)), emulator],
  ];
  const answer = await connection.run(joinScript, names, args).catch((thrown) => refuseStart(url, thrown));
  try {
    return { ...readService(answer, identity), number: Number(answer[6]) };
  } catch (thrown) {
    connection.close();
    throw thrown;
  }
}

/** Warnings about how this Redis keeps keys. */
export async function evictionWarnings(connection: RedisConnection): Promise<string[]> {
  const policy = await evictionPolicy(connection);
  if (policy === undefined || policy === 'noeviction') return [];
  return [`Redis may drop keys when it is full: its maxmemory-policy is ${policy}; set noeviction`];
}

/** The initial faults, numbered as in a single emulator. */
function initialFaults({ faults }: IdentityFacts): [id: number, text: string][] {
  return faults.map((fault, at) => [at + 1, JSON.stringify(fault)]);
}

async function evictionPolicy(connection: RedisConnection): Promise<string | undefined> {
  const info = await connection.send(['INFO', 'memory'], { optional: true }).catch(() => undefined);
  return /maxmemory_policy:(\S+)/.exec(String(info))?.[1];
}

/** What Redis says if a password or a right is missing. */
const refusals = /^(?:Redis: )?(?:WRONGPASS|NOAUTH|NOPERM|ERR AUTH)/;

/** Throws why a service cannot be joined: `bad-config` (password), `tls-failed` or `connect-failed`. */
export function refuseStart(url: string, thrown: unknown): never {
  const why = messageOf(thrown);
  const shown = shownUrl(url);
  if (refusals.test(why)) {
    throw new VoicectlError('bad-config', `Redis at ${shown} refuses the user or the password`, {
      hint: 'Pass them as redis://USER:PASSWORD@HOST in VOICECTL_SHARED.',
    });
  }
  const problem = tlsProblem(causeOf(thrown));
  if (problem !== undefined) {
    throw new VoicectlError('tls-failed', `Cannot use Redis at ${shown}: TLS failed (${problem})`, {
      hint: tlsHint(problem),
    });
  }
  throw new VoicectlError('connect-failed', `Cannot use Redis at ${shown}: ${why}`, {
    hint: 'Check that it runs and that the address is right; rediss:// connects with TLS.',
    retryable: true,
  });
}

function causeOf(thrown: unknown): unknown {
  return thrown instanceof VoicectlError ? causeOf(thrown.cause) : thrown;
}

function tlsHint(problem: string): string {
  if (problem === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'The certificate is for other host names: use one of them in the address.';
  if (problem.includes('_ALERT_'))
    return 'Redis has ended the handshake. If it asks clients for a certificate, set its tls-auth-clients to no.';
  return 'To trust a private certificate authority, start with NODE_EXTRA_CA_CERTS=FILE in the environment.';
}

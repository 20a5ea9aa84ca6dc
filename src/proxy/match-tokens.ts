import { shortText } from '../kernel/short-text.ts';
import type { TokenClaims } from '../protocol/claims.ts';
import { isRecord } from '../protocol/error-body.ts';
import { parseJson } from '../protocol/parse-json.ts';
import { estimateBytes } from '../service/state/newest.ts';
import type { TokenExchange, TokenFacts } from '../wire/exchange.ts';

/** Finds the request that granted a token, by the hash of the token: the token itself is not kept. */
export interface TokenMatches {
  granted(exchange: TokenExchange): void;
  find(hash: string): TokenExchange | undefined;
  /** The device of a token: the one that requested it, if that was seen, else the one in its claims. */
  deviceOf(token: TokenFacts): string | undefined;
  /** A device has requested a token from this address. */
  asked(remote: string, device: string): void;
  /** The device at an address, if only one has requested tokens from there: for a stream whose token names none. */
  onlyDeviceAt(remote: string): string | undefined;
}

/** How many grants are remembered; beyond it the oldest is forgotten. Tokens are used at once and are valid for a minute. */
const maxGrants = 1_000;
const grantBytes = 4 * 1024 * 1024;
const maxAddresses = 200;

const severalDevices = Symbol('several devices');

export function createTokenMatches(): TokenMatches {
  const byHash = new Map<string, { exchange: TokenExchange; bytes: number }>();
  let bytes = 0;
  const devicesAt = new Map<string, string | typeof severalDevices>();
  const find = (hash: string) => byHash.get(hash)?.exchange;
  return {
    granted(exchange) {
      if (exchange.granted === undefined) return;
      const { hash } = exchange.granted;
      bytes -= byHash.get(hash)?.bytes ?? 0;
      const grant = { exchange, bytes: estimateBytes(exchange) };
      byHash.set(hash, grant);
      bytes += grant.bytes;
      for (const [oldest, forgotten] of byHash) {
        if (byHash.size <= maxGrants && bytes <= grantBytes) break;
        byHash.delete(oldest);
        bytes -= forgotten.bytes;
      }
    },
    find,
    deviceOf({ hash, claims }) {
      const granted = find(hash);
      return (granted && requestedDevice(granted)) ?? deviceName(claims?.sub);
    },
    asked(remote, device) {
      const known = devicesAt.get(remote);
      // The address that asked longest ago is forgotten first.
      devicesAt.delete(remote);
      devicesAt.set(remote, known === undefined || known === device ? device : severalDevices);
      const [oldest] = devicesAt.keys();
      if (devicesAt.size > maxAddresses && oldest !== undefined) devicesAt.delete(oldest);
    },
    onlyDeviceAt(remote) {
      const device = devicesAt.get(remote);
      return typeof device === 'string' ? device : undefined;
    },
  };
}

/** The device that a token was requested for. */
function requestedDevice({ request }: Pick<TokenExchange, 'request'>): string | undefined {
  const fields = parseJson(request.body);
  return deviceName(isRecord(fields) ? fields.deviceId : undefined);
}

/** Longest name that identifies a device. */
const maxNameLength = 256;

/** The name of a device in a body or a claim, shortened if it is too long. */
export function deviceName(given: unknown): string | undefined {
  if (typeof given !== 'string' || given === '') return undefined;
  return given.length <= maxNameLength ? given : shortText(given);
}

/** The last moment of a date, in seconds. */
const endOfTime = 8.64e12;

/** The claims of a token that a list of tokens needs. Whatever a service grants, `exp` is a date. */
export function issuedClaims({ claims = {}, hash }: TokenFacts, device: string): TokenClaims {
  const { jti = hash, exp } = claims as Partial<TokenClaims>;
  const expires = Number(exp);
  return {
    ...(claims as unknown as TokenClaims),
    sub: device,
    jti: shortText(String(jti)),
    exp: Number.isFinite(expires) ? Math.min(Math.max(0, expires), endOfTime) : 0,
  };
}

import { isRecord } from '../protocol/error-body.ts';
import { parseJson } from '../protocol/parse-json.ts';
import type { TokenExchange } from '../wire/exchange.ts';

/** Finds the request that granted a token, by the hash of the token: the token itself is not kept. */
export interface TokenMatches {
  granted(exchange: TokenExchange): void;
  find(hash: string): TokenExchange | undefined;
  /** A device has asked for a token from this address. */
  asked(remote: string, device: string): void;
  /** The device behind an address, if only one has asked from there: for a stream whose token names none. */
  onlyDeviceAt(remote: string): string | undefined;
}

/** Most grants that are remembered; beyond it the oldest is forgotten. Tokens are used at once and live for a minute. */
const maxGrants = 1_000;
const maxAddresses = 200;

const severalDevices = Symbol('several devices');

export function createTokenMatches(): TokenMatches {
  const byHash = new Map<string, TokenExchange>();
  const devicesAt = new Map<string, string | typeof severalDevices>();
  return {
    granted(exchange) {
      if (exchange.granted === undefined) return;
      byHash.set(exchange.granted.hash, exchange);
      const [oldest] = byHash.keys();
      if (byHash.size > maxGrants && oldest !== undefined) byHash.delete(oldest);
    },
    find: (hash) => byHash.get(hash),
    asked(remote, device) {
      const known = devicesAt.get(remote);
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
export function requestedDevice({ request }: Pick<TokenExchange, 'request'>): string | undefined {
  const fields = parseJson(request.body);
  const device = isRecord(fields) ? fields.deviceId : undefined;
  return typeof device === 'string' && device !== '' ? device : undefined;
}

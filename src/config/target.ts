import { hostname } from 'node:os';
import { readText, type Stdin } from '../files/read-text.ts';
import { nameOf } from '../files/refusal.ts';
import { VoicectlError } from '../kernel/errors.ts';
import { shortestSecret } from '../kernel/spellings.ts';
import { isLoopbackHost, isSafeTransport } from '../protocol/loopback.ts';
import { wsUrlFor } from '../protocol/paths.ts';
import { developmentKey } from '../protocol/token-request.ts';
import type { OptionName } from './options.ts';
import { type Origin, origins, type ResolvedSettings } from './settings.ts';

export interface Target {
  baseUrl: string;
  wsUrl: string;
  device: string;
  apiKey: string;
  /** PEM of certificates to trust instead of the built-in authorities. */
  ca: string | undefined;
  /** The file that they come from. */
  caFile: string | undefined;
}

export type TargetOption =
  | 'baseUrl'
  | 'wsUrl'
  | 'local'
  | 'allowPlaintext'
  | 'ca'
  | 'apiKey'
  | 'apiKeyFile'
  | 'device';

type WithOrigins<Names extends OptionName> = Pick<ResolvedSettings<Names>, 'settings' | 'origin'>;

type Connection = WithOrigins<TargetOption>;

export interface TargetOptions extends Stdin {
  /** False if a token is given, which makes a key unnecessary. */
  needsKey: boolean;
}

/**
 * Where to connect, as which device, and with which key. Throws `insecure-target` if a key would leave this
 * machine unencrypted, `usage` if there is no key or it was given where others can see it.
 */
export async function resolveTarget(
  connection: Connection,
  { needsKey, ...input }: TargetOptions,
): Promise<Target> {
  const { baseUrl, device, allowPlaintext } = connection.settings;
  const wsUrl = givenWsUrl(connection) ?? wsUrlFor(baseUrl);
  if (!allowPlaintext) [baseUrl, wsUrl].forEach(requireSafeTransport);
  const apiKey = needsKey ? await resolveKey(connection, input, isLoopback(baseUrl)) : '';
  const { ca: caFile } = connection.settings;
  const ca = await readTrusted(caFile, input);
  return { baseUrl, wsUrl, device: device ?? defaultDevice(), apiKey, ca, caFile };
}

/** `voicectl-HOSTNAME`: the same in each run on a machine. */
export function defaultDevice(): string {
  return `voicectl-${hostname()}`.slice(0, 128);
}

/** The WebSocket address that was given for the base URL. */
export function givenWsUrl({ settings, origin }: WithOrigins<'baseUrl' | 'wsUrl'>): string | undefined {
  return isOfService(origin('wsUrl'), origin('baseUrl')) ? settings.wsUrl : undefined;
}

/** The WebSocket address that was given for the service behind a proxy. */
export function givenTargetWs({ settings, origin }: WithOrigins<'target' | 'targetWs'>): string | undefined {
  return isOfService(origin('targetWs'), origin('target')) ? settings.targetWs : undefined;
}

/**
 * Whether a WebSocket address is of the same service as an HTTP address: it belongs to one from the same or a weaker
 * source, never to one from a stronger source.
 */
function isOfService(ws: Origin | undefined, http: Origin | undefined): boolean {
  return strength(ws) <= strength(http);
}

/** Whether it is on this machine. */
export function isLoopback(url: string): boolean {
  return isLoopbackHost(new URL(url).hostname);
}

/** Throws `insecure-target` if a key or token would leave this machine unencrypted. */
export function requireSafeTransport(url: string): void {
  if (isSafeTransport(url)) return;
  const { protocol, host } = new URL(url);
  throw new VoicectlError(
    'insecure-target',
    `Refusing to send a key or token to ${host} over plain ${protocol.replace(':', '').toUpperCase()}`,
    {
      hint: 'Use https and wss, or --allow-plaintext if the network is trusted.',
    },
  );
}

async function resolveKey(connection: Connection, input: Stdin, loopback: boolean): Promise<string> {
  const { settings, origin } = connection;
  const { apiKey } = settings;
  if (origin('apiKey') === 'flag' && !loopback) {
    throw new VoicectlError(
      'usage',
      '--api-key is accepted for loopback targets only: other users could read it in the process list',
      { hint: keyHint },
    );
  }
  const keyFile = keyFileOf(connection);
  if (keyFile !== undefined) return readKeyFile(keyFile, input);
  if (apiKey !== undefined) return checkSecret(apiKey, 'The API key');
  if (loopback) return developmentKey;
  throw new VoicectlError('usage', 'No API key', { hint: keyHint });
}

/** Throws `usage` if standard input is to be read as `what`, and for a key, a token or the certificates too. */
export function refuseSharedInput(
  what: string,
  { secret, ca }: { secret: string | undefined; ca: string | undefined },
): void {
  const other = secret === '-' ? 'a key or token' : ca === '-' ? 'the certificates of --ca' : undefined;
  if (other !== undefined)
    throw new VoicectlError('usage', `Standard input cannot be both ${what} and ${other}`);
}

/** The file that a key is read from, if one is needed; undefined if the key itself was given in a stronger source. */
export function keyFileOf({ settings, origin }: WithOrigins<'apiKey' | 'apiKeyFile'>): string | undefined {
  // The stronger source wins. A key wins over a file named in the same source.
  const isFileStronger = strength(origin('apiKeyFile')) < strength(origin('apiKey'));
  return isFileStronger ? settings.apiKeyFile : undefined;
}

const keyHint = 'Set VOICECTL_API_KEY, or use --api-key-file FILE (- reads standard input).';

/** Lower is stronger. */
function strength(origin: Origin | undefined): number {
  return origin === undefined ? origins.length : origins.indexOf(origin);
}

/** The key in a file. Throws `bad-input` without one. */
export async function readKeyFile(path: string, input: Stdin): Promise<string> {
  const key = (await readText(path, input)).trim();
  if (key === '') throw new VoicectlError('bad-input', `There is no API key in ${nameOf(path)}`);
  return checkSecret(key, `The API key in ${nameOf(path)}`);
}

const block = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * The certificates to trust instead of the built-in authorities, as PEM. Undefined if no file is named. Throws
 * `bad-input` for a file without certificates: TLS would accept it silently and then trust nobody.
 */
export async function readTrusted(path: string | undefined, input: Stdin): Promise<string | undefined> {
  if (path === undefined) return undefined;
  // Loading Node's crypto takes longer than the rest of a token request, and few users name a file.
  const { X509Certificate } = await import('node:crypto');
  const certificates = (await readText(path, input)).match(block) ?? [];
  try {
    if (certificates.length === 0) throw new Error('it has none in PEM format');
    for (const certificate of certificates) new X509Certificate(certificate);
  } catch (cause) {
    throw new VoicectlError('bad-input', `No certificate to trust in ${path}: ${(cause as Error).message}`, {
      cause,
    });
  }
  return certificates.join('\n');
}

/** A key or token with more bytes must be the wrong file. */
const maxSecretBytes = 64 * 1024;

/**
 * Returns a key, a token or the secret of the control API. `what` begins the sentence that refuses it. Throws `bad-input` if it
 * is longer than 64 KiB.
 */
export function checkSecret(secret: string, what: string): string {
  if (Buffer.byteLength(secret) <= maxSecretBytes) return secret;
  throw new VoicectlError('bad-input', `${what} is longer than ${maxSecretBytes / 1024} KiB`, {
    hint: 'Is it the right file?',
  });
}

/** Warns about a secret that is too short to be found in texts. An empty one is not a secret. */
export async function warnOfShortSecret(
  secret: string,
  what: string,
  warn: (text: string) => Promise<void>,
): Promise<void> {
  if (secret.length === 0 || secret.length >= shortestSecret) return;
  await warn(
    `${what} is shorter than ${shortestSecret} characters: it is not removed from output, reports and recordings`,
  );
}

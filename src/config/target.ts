import { readFile, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { VoicectlError } from '../errors.ts';
import { isLoopbackHost } from '../protocol/loopback.ts';
import { wsUrlFor } from '../protocol/paths.ts';
import type { connectionOptions } from './options.ts';
import type { ResolvedSettings } from './settings.ts';

/** Accepted by an emulator that no keys were given to. */
export const developmentKey = 'voicectl-development-key';

export interface Target {
  baseUrl: string;
  wsUrl: string;
  device: string;
  apiKey: string;
}

type Connection = ResolvedSettings<(typeof connectionOptions)[number]>;

/**
 * Where to connect, as whom, and with which key. Throws `insecure-target` where a key would leave this
 * machine in the clear, `usage` where there is no key or one was given where it can be seen.
 */
export async function resolveTarget(connection: Connection, stdin: Readable): Promise<Target> {
  const { baseUrl, device, allowPlaintext } = connection.settings;
  const wsUrl = connection.settings.wsUrl ?? wsUrlFor(baseUrl);
  if (!allowPlaintext) [baseUrl, wsUrl].forEach(requireSafeTransport);
  const apiKey = await resolveKey(connection, stdin, isLoopback(baseUrl));
  return { baseUrl, wsUrl, device: device ?? defaultDevice(), apiKey };
}

/** `voicectl-HOSTNAME`: the same in each run on a machine. */
export function defaultDevice(): string {
  return `voicectl-${hostname()}`.slice(0, 128);
}

function isLoopback(url: string): boolean {
  return isLoopbackHost(new URL(url).hostname);
}

function requireSafeTransport(url: string): void {
  const { protocol, host } = new URL(url);
  if (protocol === 'https:' || protocol === 'wss:' || isLoopback(url)) return;
  throw new VoicectlError(
    'insecure-target',
    `Refusing to send a key or token to ${host} over plain ${protocol.replace(':', '').toUpperCase()}`,
    {
      hint: 'Use https and wss, or --allow-plaintext if the network is trusted.',
    },
  );
}

async function resolveKey(
  { settings, origin }: Connection,
  stdin: Readable,
  loopback: boolean,
): Promise<string> {
  const { apiKey, apiKeyFile } = settings;
  const from = origin('apiKey');
  if (from === 'flag' && !loopback) {
    throw new VoicectlError(
      'usage',
      '--api-key is accepted for a loopback target only: others could read it in the list of processes',
      {
        hint: 'Set VOICECTL_API_KEY, or use --api-key-file FILE (- is standard input).',
      },
    );
  }
  if (from === 'flag' && apiKey !== undefined) return apiKey;
  if (apiKeyFile !== undefined && origin('apiKeyFile') === 'flag') return readKeyFile(apiKeyFile, stdin);
  if (apiKey !== undefined) return apiKey;
  if (apiKeyFile !== undefined) return readKeyFile(apiKeyFile, stdin);
  if (loopback) return developmentKey;
  throw new VoicectlError('usage', 'No API key', {
    hint: 'Set VOICECTL_API_KEY, or use --api-key-file FILE (- is standard input).',
  });
}

async function readKeyFile(path: string, stdin: Readable): Promise<string> {
  const key = (await readText(path, stdin)).trim();
  if (key === '')
    throw new VoicectlError('bad-input', `There is no API key in ${path === '-' ? 'standard input' : path}`);
  return key;
}

/** The text of a small file, or of standard input for `-`. Throws `bad-input`. */
export async function readText(path: string, stdin: Readable): Promise<string> {
  if (path === '-') return text(stdin);
  try {
    if ((await stat(path)).isDirectory()) throw new Error('it is a directory');
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new VoicectlError('bad-input', `Cannot read ${path}: ${(cause as Error).message}`, { cause });
  }
}

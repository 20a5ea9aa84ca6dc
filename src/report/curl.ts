import { shellText } from '../kernel/shell-text.ts';
import { jsonMediaType } from '../protocol/token-request.ts';

/**
 * Where the curl command gets the key. A secret is never written into it. `open`: a key that is not a secret. `fallback`:
 * VOICECTL_API_KEY, or this text, which is not a secret, if that is not set. `missing`: VOICECTL_API_KEY, or this error message
 * of the shell if it is not set. `file`: the first line of a file.
 */
export type CurlKey = { open: string } | { fallback: string } | { file: string } | { missing: string };

/** A file with the trusted certificates, or no check at all. Default: the authorities that curl trusts. */
export type CurlTrust = { file: string } | 'anybody' | undefined;

export interface CurlRequest {
  /** The whole address of the token endpoint. */
  url: string;
  device: string;
  /** Default: VOICECTL_API_KEY. */
  key?: CurlKey | undefined;
  trust?: CurlTrust;
}

/** The curl command that requests a token. */
export function curlCommand({ url, device, key, trust }: CurlRequest): string {
  const body = `{"apiKey":"${keyText(key)}","deviceId":${shellText(JSON.stringify(device))}}`;
  return [
    `${curl(trust)} -X POST '${shellText(url)}'`,
    `-H 'Content-Type: ${jsonMediaType}'`,
    `-H 'Accept: ${jsonMediaType}'`,
    `-d '${body}'`,
  ].join(' ');
}

/** The start of a curl command. */
export function curl(trust: CurlTrust): string {
  if (trust === undefined) return 'curl -sS';
  return trust === 'anybody' ? 'curl -sS -k' : `curl -sS --cacert '${shellText(trust.file)}'`;
}

/** The key as shell text inside single quotes. */
function keyText(key: CurlKey | undefined): string {
  if (key === undefined) return `'"$VOICECTL_API_KEY"'`;
  if ('open' in key) return shellText(JSON.stringify(key.open).slice(1, -1));
  if ('fallback' in key) return `'"\${VOICECTL_API_KEY:-${key.fallback}}"'`;
  if ('missing' in key) return `'"\${VOICECTL_API_KEY:?${key.missing}}"'`;
  return `'"$(grep -m 1 . '${shellText(key.file)}')"'`;
}

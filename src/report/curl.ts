import { jsonMediaType } from '../protocol/token-request.ts';

/**
 * A key that is no secret, the same for where VOICECTL_API_KEY is not set, a file whose first line is the key, or what
 * the shell says where VOICECTL_API_KEY is not set. A secret key never stands in the command.
 */
export type CurlKey = { open: string } | { fallback: string } | { file: string } | { missing: string };

export interface CurlRequest {
  /** The whole address of the token endpoint. */
  url: string;
  device: string;
  /** Else the command takes it from VOICECTL_API_KEY. */
  key?: CurlKey | undefined;
  /** The file that it trusts, or that it trusts anybody; else it trusts whom curl does. */
  trust?: { file: string } | 'anybody' | undefined;
}

/** The curl command that asks for a token. */
export function curlCommand({ url, device, key, trust }: CurlRequest): string {
  const body = `{"apiKey":"${keyText(key)}","deviceId":${shellText(JSON.stringify(device))}}`;
  const trusting = trust === 'anybody' ? ' -k' : trust && ` --cacert '${shellText(trust.file)}'`;
  return [
    `curl -sS${trusting ?? ''} -X POST '${shellText(url)}'`,
    `-H 'Content-Type: ${jsonMediaType}'`,
    `-H 'Accept: ${jsonMediaType}'`,
    `-d '${body}'`,
  ].join(' ');
}

/** What stands for the key within single quotes of a shell. */
function keyText(key: CurlKey | undefined): string {
  if (key === undefined) return `'"$VOICECTL_API_KEY"'`;
  if ('open' in key) return shellText(JSON.stringify(key.open).slice(1, -1));
  if ('fallback' in key) return `'"\${VOICECTL_API_KEY:-${key.fallback}}"'`;
  if ('missing' in key) return `'"\${VOICECTL_API_KEY:?${key.missing}}"'`;
  return `'"$(grep -m 1 . '${shellText(key.file)}')"'`;
}

/** Text that is safe inside single quotes of a shell. */
export function shellText(text: string): string {
  return text.replaceAll("'", `'\\''`);
}

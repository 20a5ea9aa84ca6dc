import { jsonMediaType } from '../protocol/token-request.ts';

export interface CurlRequest {
  /** The whole address of the token endpoint. */
  url: string;
  device: string;
  /** A key that is no secret; else the command takes it from VOICECTL_API_KEY. */
  publicKey?: string;
  /** A key that is no secret, sent where VOICECTL_API_KEY is not set. */
  fallbackKey?: string | undefined;
  /** The file that it trusts, or that it trusts anybody; else it trusts whom curl does. */
  trust?: { file: string } | 'anybody' | undefined;
}

/** The curl command that asks for a token. */
export function curlCommand({ url, device, publicKey, fallbackKey, trust }: CurlRequest): string {
  const variable = fallbackKey === undefined ? '$VOICECTL_API_KEY' : `\${VOICECTL_API_KEY:-${fallbackKey}}`;
  const key = publicKey === undefined ? `'"${variable}"'` : shellText(JSON.stringify(publicKey).slice(1, -1));
  const body = `{"apiKey":"${key}","deviceId":${shellText(JSON.stringify(device))}}`;
  const trusting = trust === 'anybody' ? ' -k' : trust && ` --cacert '${shellText(trust.file)}'`;
  return [
    `curl -sS${trusting ?? ''} -X POST '${shellText(url)}'`,
    `-H 'Content-Type: ${jsonMediaType}'`,
    `-H 'Accept: ${jsonMediaType}'`,
    `-d '${body}'`,
  ].join(' ');
}

/** Text that stands within single quotes of a shell. */
function shellText(text: string): string {
  return text.replaceAll("'", `'\\''`);
}

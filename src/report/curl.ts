import { jsonMediaType } from '../protocol/token-request.ts';

export interface CurlRequest {
  /** The whole address of the token endpoint. */
  url: string;
  device: string;
  /** A key that is not secret; default: the command reads VOICECTL_API_KEY. */
  publicKey?: string;
  /** A key that is not secret, used if VOICECTL_API_KEY is not set. */
  fallbackKey?: string | undefined;
  /** The certificate file that it trusts, or that it trusts any certificate; default: those of curl. */
  trust?: { file: string } | 'anybody' | undefined;
}

/** The curl command that requests a token. */
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

/** Text that is safe inside single quotes of a shell. */
export function shellText(text: string): string {
  return text.replaceAll("'", `'\\''`);
}

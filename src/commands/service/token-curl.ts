import { defaultDevice, isLoopback } from '../../config/target.ts';
import { serviceUrl, tokenPath } from '../../protocol/paths.ts';
import { developmentKey } from '../../protocol/token-request.ts';
import { curlCommand } from '../../report/curl.ts';
import type { ContextOf } from '../command.ts';

/** The curl command that requests a token as `token` and `stream` do, with the key in its variable. */
export function tokenCurl(
  { baseUrl, apiVersion, ca }: Pick<ContextOf<'token'>['settings'], 'baseUrl' | 'apiVersion' | 'ca'>,
  device = defaultDevice(),
): string {
  const url = serviceUrl(baseUrl, tokenPath(apiVersion));
  return curlCommand({
    url,
    device,
    trust: ca === undefined || !url.startsWith('https:') ? undefined : { file: ca },
    key: isLoopback(baseUrl) ? { fallback: developmentKey } : undefined,
  });
}

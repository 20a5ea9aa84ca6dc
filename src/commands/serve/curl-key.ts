import type { Settings } from '../../config/options.ts';
import type { CurlKey } from '../../report/curl.ts';

/** What the printed curl command sends as the key: without keys of its own an emulator accepts any. */
export function curlKey({ acceptKey, acceptKeyFile }: Settings<'acceptKey' | 'acceptKeyFile'>): CurlKey {
  if (acceptKeyFile !== undefined && acceptKeyFile !== '-') return { file: acceptKeyFile };
  if (acceptKey.length === 0 && acceptKeyFile === undefined) return { open: 'any-key' };
  return { missing: 'export it first: a key that serve accepts' };
}

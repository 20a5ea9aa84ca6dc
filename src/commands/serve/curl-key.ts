import type { Settings } from '../../config/options.ts';
import type { CurlKey } from '../../report/curl.ts';

/** The key in the printed curl command. Without configured keys an emulator accepts any key. */
export function curlKey({ acceptKey, acceptKeyFile }: Settings<'acceptKey' | 'acceptKeyFile'>): CurlKey {
  if (acceptKeyFile !== undefined && acceptKeyFile !== '-') return { file: acceptKeyFile };
  if (acceptKey.length === 0 && acceptKeyFile === undefined) return { open: 'any-key' };
  return { missing: 'export it first: a key that serve accepts' };
}

import { isLoopback, type Target } from '../../config/target.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import type { LoadContext } from './context.ts';

/** Throws `usage` for a host beyond this machine that the user has not confirmed. */
export function requireConfirmed({ baseUrl, wsUrl }: Target, { confirm }: LoadContext['settings']): void {
  const confirmed = confirm.map((host) => host.toLowerCase());
  const other = [baseUrl, wsUrl]
    .filter((url) => !isLoopback(url))
    .map((url) => new URL(url))
    .find(({ host, hostname }) => !confirmed.includes(host) && !confirmed.includes(hostname));
  if (other === undefined) return;
  throw new VoicectlError('usage', `Load on ${other.hostname} needs --confirm ${other.hostname}`, {
    hint: 'Other people may use it. The plan above shows what the run costs.',
  });
}

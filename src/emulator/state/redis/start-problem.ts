import { VoicectlError } from '../../../kernel/errors.ts';

/** The address of a Redis without its password. */
export function shownUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

/** What Redis says if a password or a right is missing. */
const refusals = /^(?:Redis: )?(?:WRONGPASS|NOAUTH|NOPERM|ERR AUTH)/;

/** Says why a service cannot be joined. */
export function refuseStart(url: string, thrown: unknown): never {
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  const shown = shownUrl(url);
  if (refusals.test(why)) {
    throw new VoicectlError('bad-config', `Redis at ${shown} refuses the user or the password`, {
      hint: 'Give them as redis://USER:PASSWORD@HOST in VOICECTL_SHARED.',
    });
  }
  throw new VoicectlError('connect-failed', `Cannot use Redis at ${shown}: ${why}`, {
    hint: 'Check that it runs and that the address is right; rediss:// connects with TLS.',
    retryable: true,
  });
}

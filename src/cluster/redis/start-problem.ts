import { VoicectlError } from '../../kernel/errors.ts';
import { messageOf } from '../../kernel/thrown.ts';
import { tlsProblem } from '../../wire/client/connection-error.ts';
import { shownUrl } from './address.ts';

/** What Redis says if a password or a right is missing. */
const refusals = /^(?:Redis: )?(?:WRONGPASS|NOAUTH|NOPERM|ERR AUTH)/;

/** Throws why a service cannot be joined: `bad-config` (password), `tls-failed` or `connect-failed`. */
export function refuseStart(url: string, thrown: unknown): never {
  const why = messageOf(thrown);
  const shown = shownUrl(url);
  if (refusals.test(why)) {
    throw new VoicectlError('bad-config', `Redis at ${shown} refuses the user or the password`, {
      hint: 'Give them as redis://USER:PASSWORD@HOST in VOICECTL_SHARED.',
    });
  }
  const problem = tlsProblem(causeOf(thrown));
  if (problem !== undefined) {
    throw new VoicectlError('tls-failed', `Cannot use Redis at ${shown}: TLS failed (${problem})`, {
      hint: tlsHint(problem),
    });
  }
  throw new VoicectlError('connect-failed', `Cannot use Redis at ${shown}: ${why}`, {
    hint: 'Check that it runs and that the address is right; rediss:// connects with TLS.',
    retryable: true,
  });
}

function causeOf(thrown: unknown): unknown {
  return thrown instanceof VoicectlError ? causeOf(thrown.cause) : thrown;
}

function tlsHint(problem: string): string {
  if (problem === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'The certificate is for other names: use one of them in the address.';
  if (problem.includes('_ALERT_'))
    return 'Redis has ended the handshake. If it asks clients for a certificate, set its tls-auth-clients to no.';
  return 'To trust a private certificate authority, start with NODE_EXTRA_CA_CERTS=FILE in the environment.';
}

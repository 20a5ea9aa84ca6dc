import { messageOf, VoicectlError } from '../../kernel/errors.ts';

/** The system's error codes in plain words. */
const reasons: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name could not be looked up',
  ETIMEDOUT: 'no answer',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  EMFILE: 'this process has too many files and connections open',
  ENFILE: 'this machine has too many files and connections open',
  UND_ERR_CONNECT_TIMEOUT: 'no answer',
  UND_ERR_HEADERS_TIMEOUT: 'no answer',
  UND_ERR_BODY_TIMEOUT: 'the answer did not end',
  UND_ERR_SOCKET: 'connection closed before an answer',
};

/** Codes of Node's TLS and of OpenSSL's verification of certificates. */
const tlsCodes =
  /^(ERR_TLS|ERR_SSL|ERR_OSSL|EPROTO|CERT_|CRL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH)/;

/** How a local service is had in place of one that does not answer. */
export const localHint =
  '`voicectl serve` starts a local one; many commands run one themselves with --local.';

/** The error for a failure to reach `host`. Says whether DNS, network or TLS failed. */
export function connectionError(thrown: unknown, host: string): VoicectlError {
  const problem = tlsProblem(thrown);
  if (problem !== undefined) {
    return new VoicectlError('tls-failed', `Cannot connect to ${host}: TLS failed (${problem})`, {
      hint: tlsHint(problem, thrown),
      cause: thrown,
    });
  }
  const code = systemCode(thrown);
  const why = reasons[code] ?? messageOf(thrown);
  return new VoicectlError('connect-failed', `Cannot connect to ${host}: ${why}`, {
    retryable: true,
    cause: thrown,
    ...(code === 'ECONNREFUSED'
      ? {
          hint: `Is the service running? ${localHint}`,
        }
      : {}),
  });
}

function tlsHint(problem: string, thrown: unknown): string {
  if (problem === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'The certificate is for other host names: use one of them in the address.';
  // OpenSSL takes an answer in plain HTTP for one of another version.
  if (/WRONG_VERSION|wrong version/i.test(`${problem} ${messageOf(thrown)}`))
    return 'That port does not speak TLS: to connect without it, use http:// and ws:// in the addresses.';
  return 'Trust a private certificate authority, or a self-signed certificate, with --ca FILE.';
}

/** The code of the failure if it was TLS that failed. */
export function tlsProblem(thrown: unknown): string | undefined {
  const code = systemCode(thrown);
  return tlsCodes.test(code) ? code : undefined;
}

/** The code of an error, or of the first one inside it: Node tries several addresses and bundles their errors. */
function systemCode(thrown: unknown): string {
  const { code, errors, cause } = (thrown ?? {}) as { code?: unknown; errors?: unknown[]; cause?: unknown };
  if (typeof code === 'string' && code !== '') return code;
  if (Array.isArray(errors) && errors.length > 0) return systemCode(errors[0]);
  return cause === undefined ? '' : systemCode(cause);
}

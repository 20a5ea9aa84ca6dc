import { VoicectlError } from '../kernel/errors.ts';
import { type DialectInput, parseDialect } from '../protocol/dialect.ts';
import { checkCertificate, type TlsCertificate } from '../wire/server/certificate.ts';

/** Fills in the defaults of a dialect. Throws `bad-dialect`, naming the first wrong setting. */
export function checkDialect(input: DialectInput | undefined) {
  const parsed = parseDialect(input ?? {});
  if (parsed.ok) return parsed.dialect;
  const [first] = parsed.problems;
  const text =
    first === undefined ? '' : `${first.path} is ${JSON.stringify(first.value)}, expected ${first.expected}`;
  throw new VoicectlError('bad-dialect', `Invalid dialect: ${text}`, {
    details: { problems: parsed.problems },
  });
}

/** The given certificate, or with `true` a new self-signed one for these names. Throws `bad-input`. */
export async function prepareTls(
  tls: boolean | TlsCertificate | undefined,
  names: () => string[],
): Promise<TlsCertificate | undefined> {
  if (tls === undefined || tls === false) return undefined;
  if (tls === true) {
    const { createCertificate } = await import('../wire/server/self-signed.ts');
    return createCertificate(names());
  }
  checkCertificate(tls);
  return tls;
}

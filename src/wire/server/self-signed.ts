import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { generate } from 'selfsigned';
import { systemClock } from '../../kernel/clock.ts';
import type { TlsCertificate } from './certificate.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** Devices' clocks are wrong: what is valid from now on would not be valid for all of them. */
const validSinceDays = 1;
/** What the strictest of platforms accept (Apple: 398). */
const validDays = 365;

/**
 * Makes a key pair, and a certificate for `names` (host names and IP addresses) that is signed by nobody else: a
 * client trusts it by taking it for a certificate authority's.
 */
export async function createCertificate(names: readonly string[]): Promise<TlsCertificate> {
  // By the machine's own time: those who check it do not know of a clock that was moved.
  const now = systemClock.wall();
  // A name of its own: of two trusted certificates with one name OpenSSL would find the first alone.
  const value = `voicectl emulator ${randomBytes(4).toString('hex')}`;
  const { cert, private: key } = await generate([{ name: 'commonName', value }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(now - validSinceDays * dayMs),
    notAfterDate: new Date(now + (validDays - validSinceDays) * dayMs),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: names.flatMap(altName) },
    ],
  });
  return { cert, key };
}

function altName(name: string): { type: 2 | 7; value?: string; ip?: string }[] {
  if (isIP(name) !== 0) return [{ type: 7, ip: name }];
  const value = domainToASCII(name);
  return value === '' ? [] : [{ type: 2, value }];
}

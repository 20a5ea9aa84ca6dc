import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { generate } from 'selfsigned';
import { systemClock } from '../../kernel/clock.ts';
import type { TlsCertificate } from './certificate.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** Some devices' clocks are wrong: a certificate valid from now on would not be valid for all of them. */
const validSinceDays = 1;
/** Longest validity that the strictest platforms accept (Apple: 398). */
const validDays = 365;

/**
 * Makes a key pair and a self-signed certificate for `names` (host names and IP addresses). A
 * client trusts it by treating it as a certificate authority.
 */
export async function createCertificate(names: readonly string[]): Promise<TlsCertificate> {
  // In the machine's own time: clients that check it do not follow a moved clock.
  const now = systemClock.wall();
  // A unique name: of two trusted certificates with the same name OpenSSL finds only the first.
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

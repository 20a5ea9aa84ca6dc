import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { createCertificate } from '../../../src/wire/server/self-signed.ts';

const dayMs = 86_400_000;

test('a new certificate is valid for a device whose clock is behind by hours, and for a year at most', async () => {
  const { cert } = await createCertificate(['127.0.0.1']);
  const { validFrom, validTo } = new X509Certificate(cert);
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  expect(from).toBeLessThan(Date.now() - 0.9 * dayMs);
  expect(to).toBeGreaterThan(Date.now() + 360 * dayMs);
  // The strictest platforms accept 398 days.
  expect(to - from).toBeLessThanOrEqual(366 * dayMs);
});

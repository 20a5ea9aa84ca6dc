import { createHmac, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createMac, type MacHash } from '../../../src/emulator/tokens/token-authority.ts';

test.each<MacHash>(['sha256', 'sha384', 'sha512'])(
  '%s equals Node’s HMAC, for secrets shorter than a block, as long and longer',
  (hash) => {
    for (const bytes of [1, 32, 63, 64, 65, 127, 128, 129, 300]) {
      const secret = randomBytes(bytes);
      const mac = createMac(hash, secret);
      for (const text of ['eyJhbGciOiJIUzI1NiJ9.e30', '', 'a'.repeat(10_000), 'again']) {
        const expected = createHmac(hash, secret).update(text).digest('base64url');
        expect(mac(text), `${bytes} bytes, ${text.length} characters`).toBe(expected);
      }
    }
  },
);

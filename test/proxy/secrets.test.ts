import { expect, test } from 'vitest';
import { createSecrets } from '../../src/proxy/secrets.ts';

const numbered = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}-${String(index).padStart(4, '0')}-secret`);
const used = 'sk-used-all-the-time';

test('a key that devices go on using is concealed, however many others come', () => {
  const secrets = createSecrets();
  const redactor = secrets.redactor();
  for (const other of numbered('other', 300)) {
    secrets.learn(used);
    secrets.learn(other);
  }
  expect(redactor.text(`apiKey=${used}`)).not.toContain(used);
});

test('of more secrets than are kept, the newest ones are concealed', () => {
  const secrets = createSecrets();
  const redactor = secrets.redactor();
  const all = numbered('key', 150);
  for (const secret of all) secrets.learn(secret);
  const shown = all.filter((secret) => redactor.text(`say ${secret}`).includes(secret));
  expect(shown).toEqual(all.slice(0, 50));
});

test('a long secret that is learnt again does not push the others out', () => {
  const secrets = createSecrets();
  const redactor = secrets.redactor();
  const long = 'x'.repeat(1024 * 1024);
  secrets.learn(used);
  for (let times = 0; times < 10; times += 1) secrets.learn(long);
  expect(redactor.text(`say ${used}`)).not.toContain(used);
});

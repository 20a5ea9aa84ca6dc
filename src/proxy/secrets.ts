import { createRedactor, type Redactor } from '../kernel/redact.ts';
import { createSecretIndex } from '../kernel/secret-index.ts';

/** The keys and tokens that devices have sent, so that none reaches an output, wherever it is repeated. In memory only. */
export interface Secrets {
  /** Learns an API key, or another secret that grants access. */
  learn(secret: string): void;
  /** A redactor that knows all of them, including those that are learnt later. */
  redactor(): Redactor;
}

/** Beyond these limits the oldest is forgotten. */
const maxSecrets = 100;
const maxSecretUnits = 4 * 1024 * 1024;

export function createSecrets(): Secrets {
  const index = createSecretIndex();
  const secrets = new Set<string>();
  let units = 0;
  return {
    learn(secret) {
      if (!secrets.delete(secret)) units += secret.length;
      secrets.add(secret);
      index.add(secret);
      for (const oldest of secrets) {
        if (secrets.size <= maxSecrets && units <= maxSecretUnits) break;
        secrets.delete(oldest);
        index.delete(oldest);
        units -= oldest.length;
      }
    },
    redactor: () => createRedactor(index),
  };
}

import { createRedactor, type Redactor } from '../kernel/redact.ts';

/** The API keys that devices have sent, so that they reach no output, whatever repeats them. They stay in memory only. */
export interface Secrets {
  /** Learns a key. */
  learn(apiKey: string): void;
  /** A redactor that knows all keys so far. */
  redactor(): Redactor;
}

/** Most keys that are known at once; beyond it the oldest is forgotten. */
const maxKeys = 100;

export function createSecrets(): Secrets {
  const keys = new Set<string>();
  return {
    learn(apiKey) {
      keys.delete(apiKey);
      keys.add(apiKey);
      const [oldest] = keys;
      if (keys.size > maxKeys && oldest !== undefined) keys.delete(oldest);
    },
    redactor() {
      const redactor = createRedactor();
      for (const key of keys) redactor.conceal(key);
      return redactor;
    },
  };
}

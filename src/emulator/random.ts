import { createHash, randomUUID } from 'node:crypto';

/** Where the emulator's own choices come from. With a seed they are the same in each run. */
export interface Random {
  /** A new identifier, in the form of a UUID. */
  id(): string;
}

export function createRandom(seed?: number): Random {
  if (seed === undefined) return { id: randomUUID };
  let drawn = 0;
  return {
    id() {
      const hex = createHash('sha256').update(`${seed}:${drawn++}`).digest('hex');
      return [
        hex.slice(0, 8),
        hex.slice(8, 12),
        hex.slice(12, 16),
        hex.slice(16, 20),
        hex.slice(20, 32),
      ].join('-');
    },
  };
}

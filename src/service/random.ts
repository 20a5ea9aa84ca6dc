import { createHash, randomUUID } from 'node:crypto';

/** Source of the emulator's random choices. With a seed they are the same in each run. */
export interface Random {
  /** A new identifier, in the form of a UUID. */
  id(): string;
  /** A new sequence of numbers from 0 up to 1, independent of all other draws; with a name, the same one for the name. */
  sequence(name?: string): () => number;
}

export function createRandom(seed?: number): Random {
  if (seed === undefined) return { id: randomUUID, sequence: () => Math.random };
  let drawn = 0;
  let sequences = 0;
  const hash = (text: string) => createHash('sha256').update(`${seed}:${text}`).digest();
  return {
    id() {
      const hex = hash(String(drawn++)).toString('hex');
      return [
        hex.slice(0, 8),
        hex.slice(8, 12),
        hex.slice(12, 16),
        hex.slice(16, 20),
        hex.slice(20, 32),
      ].join('-');
    },
    sequence(name = `sequence ${sequences++}`) {
      let index = 0;
      return () => hash(`${name}:${index++}`).readUInt32LE() / 2 ** 32;
    },
  };
}

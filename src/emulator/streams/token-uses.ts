/** Which stream each token opened, for the message about a second use. */
export interface TokenUses {
  note(jti: string, stream: number): void;
  streamOf(jti: string): number | undefined;
}

/** Most uses that are remembered; beyond it the oldest are dropped. */
const maxUses = 10_000;

export function createTokenUses(): TokenUses {
  const uses = new Map<string, number>();
  return {
    note(jti, stream) {
      uses.set(jti, stream);
      const [oldest] = uses.keys();
      if (uses.size > maxUses && oldest !== undefined) uses.delete(oldest);
    },
    streamOf: (jti) => uses.get(jti),
  };
}

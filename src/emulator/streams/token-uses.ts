/** Which stream a token opened, for whoever shows it again. */
export interface TokenUses {
  note(jti: string, stream: number): void;
  streamOf(jti: string): number | undefined;
}

/** Uses that are remembered; beyond it the oldest are forgotten. */
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

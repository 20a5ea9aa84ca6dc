/** Waits for a condition over state that changes now and then; whoever changes the state says so. */
export interface Watch {
  changed(): void;
  /** Resolves with what `check` finds, as soon as it finds anything. */
  until<Found>(check: () => Found | undefined | false): Promise<Found>;
}

export function createWatch(): Watch {
  const waiting = new Set<() => void>();
  return {
    changed() {
      for (const look of [...waiting]) look();
    },
    until(check) {
      return new Promise((resolve, reject) => {
        const look = () => {
          try {
            const found = check();
            if (found === undefined || found === false) return;
            resolve(found);
          } catch (thrown) {
            reject(thrown);
          }
          waiting.delete(look);
        };
        waiting.add(look);
        look();
      });
    },
  };
}

/** What happens on the stream of a scenario. */
export type ScenarioMoment = 'speech-start' | 'speech-end' | `event ${string}`;

/** Moments that wait until the scenario asks for them, and the one wait of the scenario. */
export interface Moments {
  happen(moment: ScenarioMoment): void;
  /** Removes the moment and all earlier ones; false if it has not happened. */
  consume(moment: ScenarioMoment): boolean;
  /** Resolves when the condition is met. It is checked now, at each moment and at each `look`. */
  wait(isMet: () => boolean): Promise<void>;
  /** Checks the condition again. */
  look(): void;
}

/** Most moments that wait for a busy scenario; beyond it the oldest are dropped. */
const maxMoments = 64;

export function createMoments(): Moments {
  const moments: ScenarioMoment[] = [];
  let awaited: { isMet: () => boolean; resolve: () => void } | undefined;
  const look = () => {
    if (awaited?.isMet() !== true) return;
    const { resolve } = awaited;
    awaited = undefined;
    resolve();
  };
  return {
    look,
    happen(moment) {
      if (moments.length >= maxMoments) moments.shift();
      moments.push(moment);
      look();
    },
    consume(moment) {
      const at = moments.indexOf(moment);
      if (at >= 0) moments.splice(0, at + 1);
      return at >= 0;
    },
    wait: (isMet) =>
      new Promise((resolve) => {
        awaited = { isMet, resolve };
        look();
      }),
  };
}

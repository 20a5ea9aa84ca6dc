import type { Clock } from '../../kernel/clock.ts';
import { generate, type LoadJob, type LoadReporting } from './generate.ts';

export interface LoadCrewHandlers extends Pick<LoadReporting, 'onTick' | 'onFailure'> {
  /** A generator ended before its work was done. */
  onLost(generator: number, why: string): void;
}

/** What all generators of a run share on this machine. */
export type CrewJob = Omit<LoadJob, 'generator' | 'startAt'>;

/** The generators of a run on this machine, ready to start. */
export interface LoadCrew {
  readonly size: number;
  /** Runs from `startAt` (milliseconds since the epoch) until all have ended or are lost. The signal ends it early. */
  run(startAt: number, signal: AbortSignal, handlers: LoadCrewHandlers): Promise<void>;
  /** Ends the remaining processes. */
  close(): void;
}

/** One generator in this process. */
export function createOwnCrew(job: CrewJob, clock: Clock): LoadCrew {
  return {
    size: 1,
    run: (startAt, signal, handlers) =>
      generate({ ...job, generator: 0, startAt }, { clock, signal, ...handlers }),
    close() {},
  };
}

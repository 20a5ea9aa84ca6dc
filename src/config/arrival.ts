import { readDuration } from '../protocol/read-duration.ts';
import type { Parse } from './parse.ts';

/** How sessions arrive. Rates are sessions per second. */
export type Arrival =
  | { kind: 'constant' | 'poisson'; perSecond: number }
  | { kind: 'ramp'; from: number; to: number }
  /** `size` sessions at once, repeated every `everyMs`. */
  | { kind: 'burst'; size: number; everyMs: number };

const number = String.raw`(\d{1,6}(?:\.\d{1,6})?)`;
const steady = new RegExp(`^(constant|poisson):${number}/s$`);
const ramp = new RegExp(`^ramp:${number}\\.\\.${number}/s$`);
const burst = /^burst:(\d{1,7})(?:\/(\S+))?$/;
const defaultBurstMs = 1_000;

/** `constant:R/s`, `poisson:R/s`, `ramp:A..B/s`, `burst:N` or `burst:N/DURATION`. */
export const parseArrival: Parse<Arrival> = (text) => {
  const arrival = readSteady(text) ?? readRamp(text) ?? readBurst(text);
  if (arrival === undefined)
    throw new Error('expected constant:R/s, poisson:R/s, ramp:A..B/s or burst:N, with a rate above 0');
  return arrival;
};

function readSteady(text: string): Arrival | undefined {
  const [, kind, rate] = steady.exec(text) ?? [];
  const perSecond = Number(rate);
  return kind !== undefined && perSecond > 0
    ? { kind: kind as 'constant' | 'poisson', perSecond }
    : undefined;
}

function readRamp(text: string): Arrival | undefined {
  const [, low, high] = ramp.exec(text) ?? [];
  const [from, to] = [Number(low), Number(high)];
  return from + to > 0 ? { kind: 'ramp', from, to } : undefined;
}

function readBurst(text: string): Arrival | undefined {
  const [, count, every] = burst.exec(text) ?? [];
  const size = Number(count);
  const everyMs = every === undefined ? defaultBurstMs : readDuration(every);
  return size > 0 && everyMs !== undefined && everyMs > 0 ? { kind: 'burst', size, everyMs } : undefined;
}

/** An arrival as written on the command line. */
export function arrivalText(arrival: Arrival): string {
  switch (arrival.kind) {
    case 'ramp':
      return `ramp:${arrival.from}..${arrival.to}/s`;
    case 'burst':
      return `burst:${arrival.size}/${arrival.everyMs}ms`;
    default:
      return `${arrival.kind}:${arrival.perSecond}/s`;
  }
}

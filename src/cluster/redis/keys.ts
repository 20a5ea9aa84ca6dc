/** The keys and channels in Redis. The keys of a device have its id as a hash tag. */
export interface RedisKeys {
  /** Hash: identity, secrets, clock, faults, counters. */
  readonly service: string;
  /** Sorted set: ids of emulators, by the time of their last report. */
  readonly instances: string;
  /** Sorted set: ids of devices, by the time until which they are shown. */
  readonly devices: string;
  /** List: claims of issued tokens as JSON, newest last. */
  readonly issued: string;
  /** Stream: one event as JSON in each entry. */
  readonly journal: string;
  /** Number of the last batch of events that this emulator has written. */
  batch(emulator: string): string;
  /** Channel: new events. */
  readonly events: string;
  /** Channel: messages to all emulators. */
  readonly asks: string;
  /** Channel: answers to this emulator. */
  answers(emulator: string): string;
  /** A rate window, packed by `scripts/window.ts`. */
  window(device: string): string;
  /** Sorted set: ids of leases, by the time at which they expire. */
  slots(device: string): string;
  /** Exists for a token that was used. */
  spent(device: string, jti: string): string;
  /** Prefix of the names that belong to a device. */
  readonly prefix: string;
}

export function createKeys(prefix: string): RedisKeys {
  const start = `${prefix}:`;
  return {
    prefix: start,
    service: `${start}service`,
    instances: `${start}instances`,
    devices: `${start}devices`,
    issued: `${start}issued`,
    journal: `${start}journal`,
    batch: (emulator) => `${start}batch:${emulator}`,
    events: `${start}events`,
    asks: `${start}asks`,
    answers: (emulator) => `${start}answers:${emulator}`,
    window: (device) => `${start}{${device}}:window`,
    slots: (device) => `${start}{${device}}:slots`,
    spent: (device, jti) => `${start}{${device}}:spent:${jti}`,
  };
}

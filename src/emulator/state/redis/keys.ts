/** The names in Redis. What belongs to a device carries it as a hash tag, so that it stays together. */
export interface Keys {
  /** One hash: identity, clock, faults, counters. */
  readonly service: string;
  readonly instances: string;
  readonly devices: string;
  readonly issued: string;
  readonly journal: string;
  /** Channels. */
  readonly events: string;
  readonly asks: string;
  answers(instance: string): string;
  window(device: string): string;
  slots(device: string): string;
  spent(device: string, jti: string): string;
  /** Prefix of the names that belong to a device. */
  readonly prefix: string;
}

export function createKeys(prefix: string): Keys {
  const start = `${prefix}:`;
  return {
    prefix: start,
    service: `${start}service`,
    instances: `${start}instances`,
    devices: `${start}devices`,
    issued: `${start}issued`,
    journal: `${start}journal`,
    events: `${start}events`,
    asks: `${start}asks`,
    answers: (instance) => `${start}answers:${instance}`,
    window: (device) => `${start}{${device}}:window`,
    slots: (device) => `${start}{${device}}:slots`,
    spent: (device, jti) => `${start}{${device}}:spent:${jti}`,
  };
}

import type { SlotLease } from './state.ts';

/** "Concurrent connections: 10 per device." Specification: "Limits". */
export interface ConnectionSlots {
  /** Takes a slot in one synchronous step; undefined if the device has none left. */
  acquire(device: string): SlotLease | undefined;
  /** Slots in use, by device. */
  inUse(): ReadonlyMap<string, number>;
}

export function createConnectionSlots(perDevice: number): ConnectionSlots {
  const used = new Map<string, number>();
  const free = (device: string) => {
    const left = (used.get(device) ?? 0) - 1;
    if (left === 0) used.delete(device);
    else used.set(device, left);
  };
  return {
    inUse: () => new Map(used),
    acquire(device) {
      const connections = (used.get(device) ?? 0) + 1;
      if (connections > perDevice) return undefined;
      used.set(device, connections);
      let held = true;
      return {
        connections,
        release() {
          if (held) free(device);
          held = false;
        },
      };
    },
  };
}

/** "Concurrent connections: 10 per device." Specification: "Limits". */
export interface ConnectionSlots {
  /** Takes a slot in one synchronous step; undefined where the device has none left. Releasing twice is harmless. */
  take(device: string): { release: () => void } | undefined;
  inUse(device: string): number;
}

export function createConnectionSlots(perDevice: number): ConnectionSlots {
  const used = new Map<string, number>();
  const inUse = (device: string) => used.get(device) ?? 0;
  return {
    inUse,
    take(device) {
      if (inUse(device) >= perDevice) return undefined;
      used.set(device, inUse(device) + 1);
      let held = true;
      return {
        release() {
          if (!held) return;
          held = false;
          const left = inUse(device) - 1;
          if (left === 0) used.delete(device);
          else used.set(device, left);
        },
      };
    },
  };
}

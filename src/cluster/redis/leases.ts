import type { SlotLease } from '../../service/state/state.ts';
import type { RedisConnection } from './connection.ts';
import type { RedisKeys } from './keys.ts';
import type { RedisLink } from './link.ts';
import { leaseScript, releaseScript, renewScript } from './scripts/slots.ts';

/** A slot is free again this long after its emulator last renewed the lease. */
export const leaseMs = 15_000;

interface Held {
  device: string;
  /** Reports that another connection has the slot now. */
  lost: () => void;
}

/** The connection slots that this emulator holds for its streams. */
export interface SharedLeases {
  acquire(device: string): Promise<SlotLease | undefined>;
  /** Renews all leases. A slot that another connection took meanwhile is lost: see `SlotLease.onLost`. */
  renew(connection: RedisConnection, life: string): Promise<void>;
}

export interface SharedLeasesOptions {
  link: RedisLink;
  keys: RedisKeys;
  /** Id of this emulator. */
  emulator: string;
  /** Connections per device. */
  most: number;
}

export function createSharedLeases({ link, keys, emulator, most }: SharedLeasesOptions): SharedLeases {
  const held = new Map<string, Held>();
  let taken = 0;

  const release = (id: string, device: string) => {
    if (!held.delete(id)) return;
    if (!link.isUp) return;
    // If this fails, the lease expires.
    link.run(releaseScript, [keys.service, keys.slots(device)], [id]).catch(() => {});
  };
  const hold = (id: string, device: string, connections: number): SlotLease => {
    const entry: Held = { device, lost() {} };
    held.set(id, entry);
    return {
      connections,
      release: () => release(id, device),
      onLost(call) {
        entry.lost = call;
      },
    };
  };

  return {
    async acquire(device) {
      const id = `${emulator}:${++taken}`;
      const of = [keys.service, keys.slots(device), keys.devices];
      const [, connections] = await link.run(leaseScript, of, [most, leaseMs, device, id]);
      return connections === 0 ? undefined : hold(id, device, Number(connections));
    },
    async renew(connection, life) {
      const byDevice = new Map<string, string[]>();
      for (const [id, { device }] of held) byDevice.set(device, [...(byDevice.get(device) ?? []), id]);
      const renewals = [...byDevice].map(async ([device, ids]) => {
        const of = [keys.service, keys.slots(device), keys.devices];
        const [done, ...lost] = await connection.run(renewScript, of, [life, most, leaseMs, device, ...ids]);
        if (done !== 1) return;
        for (const id of lost) {
          const entry = held.get(String(id));
          held.delete(String(id));
          entry?.lost();
        }
        // A stream that ended while its lease was renewed has given it back already, or does so now.
        const gone = ids.filter((id) => !held.has(id));
        if (gone.length > 0)
          await connection.run(releaseScript, [keys.service, keys.slots(device)], [life, ...gone]);
      });
      // A renewal that fails because of the content of its key does not keep others from being renewed.
      await Promise.allSettled(renewals);
    },
  };
}

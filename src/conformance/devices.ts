import { randomBytes } from 'node:crypto';

/** The devices that a run uses: the user's own, a second, one for many connections, one to exhaust. */
export type DeviceRole = 'own' | 'second' | 'many' | 'exhausted';

/** Which device each role is; undefined for a role that this run has no device for. */
export interface Devices {
  idOf(role: DeviceRole): string | undefined;
}

const suffixes: Record<Exclude<DeviceRole, 'own'>, string> = {
  second: '-2',
  many: '-3',
  exhausted: '-4',
};
const roles: readonly DeviceRole[] = ['own', 'second', 'many', 'exhausted'];

/**
 * Devices of a run: the given ones, then ones derived from the first. Only a throwaway device is exhausted, so a
 * new one is made for each run. `isAlone`: only the first is used, and none is exhausted.
 */
export function createDevices(given: readonly [string, ...string[]], isAlone: boolean): Devices {
  const fresh = randomBytes(3).toString('hex');
  return {
    idOf(role) {
      const [own] = given;
      if (role === 'own') return own;
      if (isAlone) return role === 'many' ? own : undefined;
      const named = given[roles.indexOf(role)];
      return named ?? `${own}${suffixes[role]}${role === 'exhausted' ? `-${fresh}` : ''}`;
    },
  };
}

/** The same roles with devices that nobody has used, for a second look at windows. */
export function createFreshDevices(devices: Devices): Devices {
  const fresh = randomBytes(3).toString('hex');
  return {
    idOf(role) {
      const id = devices.idOf(role);
      return id && `${id}-${fresh}`;
    },
  };
}

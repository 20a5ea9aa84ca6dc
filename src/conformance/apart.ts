import type { Seen } from '../rules/rule.ts';
import type { Clockwork } from './clockwork.ts';

/** Keeps the token requests of a device apart. */
export interface Apart {
  /** Resolves when another token of the device cannot be the same as the last one. */
  wait(device: string, signal: AbortSignal): Promise<void>;
  note(device: string, seen: Seen): void;
}

/** Without a `jti`, tokens of one device and one second are the same, and one of them counts as reused. */
const apartMs = 1_100;

export function createApart({ clock, pass }: Clockwork): Apart {
  const nextAt = new Map<string, number>();
  return {
    async wait(device, signal) {
      const at = nextAt.get(device);
      if (at !== undefined && at > clock.now()) await pass(at, signal);
    },
    note(device, { exchange }) {
      const claims = exchange.kind === 'token' ? exchange.granted?.claims : undefined;
      if (claims !== undefined && !Object.hasOwn(claims, 'jti')) nextAt.set(device, clock.now() + apartMs);
    },
  };
}

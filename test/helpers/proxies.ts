import { afterEach } from 'vitest';
import type { ProxyOptions } from '../../src/proxy/options.ts';
import { createProxy, type ServiceProxy } from '../../src/proxy/proxy.ts';
import type { EmulatorEvent } from '../../src/service/events.ts';

export interface WatchedProxy extends ServiceProxy {
  /** Every event so far. */
  events: EmulatorEvent[];
}

/** Proxies on free ports; after each test they are closed. */
export function setUpProxies() {
  const open: ServiceProxy[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((proxy) => proxy.close()));
  });
  return async (
    target: { baseUrl?: string; wsUrl?: string; ca?: string | undefined },
    options: Partial<ProxyOptions> = {},
  ): Promise<WatchedProxy> => {
    const events: EmulatorEvent[] = [];
    const baseUrl = target.baseUrl ?? target.wsUrl?.replace(/^ws/, 'http') ?? '';
    const proxy = await createProxy({
      ...options,
      target: { ca: target.ca, baseUrl, wsUrl: target.wsUrl ?? baseUrl.replace(/^http/, 'ws') },
      onEvent(event) {
        events.push(event);
        options.onEvent?.(event);
      },
    });
    open.push(proxy);
    return Object.assign(proxy, { events });
  };
}

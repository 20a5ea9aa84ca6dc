import { afterEach } from 'vitest';
import {
  createSharedEmulator,
  type SharedEmulator,
  type SharedOptions,
} from '../../src/cluster/shared-emulator.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { tokenPath } from '../../src/protocol/paths.ts';
import type { EmulatorEvent } from '../../src/service/events.ts';
import { openStream, type StreamClient } from './stream-client.ts';
import { createWatch } from './watch.ts';

export interface RunningSharedEmulator extends SharedEmulator {
  readonly events: EmulatorEvent[];
  /** Resolves with the first event of the type, past or to come. */
  event(type: EmulatorEvent['type']): Promise<EmulatorEvent>;
  /** Asks for a token; the text is empty where none is given. */
  request(device?: string): Promise<{ status: number; token: string }>;
  /** A stream that has presented a token. */
  present(token: string): Promise<StreamClient>;
}

/** Starts emulators that share a Redis; after each test they and their clients are closed. */
export function setUpSharedEmulators() {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    await Promise.all(closing.splice(0).map((close) => close()));
  });
  return async (shared: SharedOptions, options: EmulatorOptions = {}): Promise<RunningSharedEmulator> => {
    const events: EmulatorEvent[] = [];
    const watch = createWatch();
    const emulator = await createSharedEmulator(
      {
        reply: 'silence',
        ...options,
        onEvent(event) {
          events.push(event);
          watch.changed();
        },
      },
      shared,
    );
    closing.push(emulator.close);
    return {
      ...emulator,
      get instance() {
        return emulator.instance;
      },
      get controlSecret() {
        return emulator.controlSecret;
      },
      events,
      event: (type) => watch.until(() => events.find((event) => event.type === type)),
      async request(device = 'd') {
        const response = await fetch(emulator.baseUrl + tokenPath(), {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ apiKey: 'k', deviceId: device }),
        });
        const { token = '' } = (await response.json()) as { token?: string };
        return { status: response.status, token };
      },
      async present(token) {
        const client = openStream(emulator.wsUrl);
        closing.unshift(() => client.socket.terminate());
        await client.opened;
        await client.send(token);
        return client;
      },
    };
  };
}

/** For each stream 0 if it was confirmed, else the code that it was closed with. */
export function fates(clients: readonly StreamClient[]): Promise<number[]> {
  return Promise.all(
    clients.map((client) =>
      client.connected.then(
        () => 0,
        async () => (await client.closed).code,
      ),
    ),
  );
}

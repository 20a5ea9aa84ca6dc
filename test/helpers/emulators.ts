import { afterEach, type TestContext } from 'vitest';
import type { ClientOptions } from 'ws';
import { createEmulator, type Emulator } from '../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { tokenPath } from '../../src/protocol/paths.ts';
import type { EmulatorEvent } from '../../src/service/events.ts';
import { openStream, type StreamClient } from './stream-client.ts';
import { createWatch } from './watch.ts';

export interface TokenAnswer {
  status: number;
  headers: Headers;
  body: { token?: string; error?: { code: string; message: string; details?: unknown } };
}

export interface RunningEmulator extends Emulator {
  readonly events: EmulatorEvent[];
  /** Resolves with the first event of the type, past or to come, that `matches`. */
  event<Type extends EmulatorEvent['type']>(
    type: Type,
    matches?: (event: Extract<EmulatorEvent, { type: Type }>) => boolean,
  ): Promise<Extract<EmulatorEvent, { type: Type }>>;
  /** Resolves with what `check` finds after any event. */
  until<Found>(check: () => Found | undefined | false): Promise<Found>;
  requestToken(device?: string, init?: { apiKey?: string; path?: string }): Promise<TokenAnswer>;
  /** A token; fails where none is given. */
  token(device?: string): Promise<string>;
  /** A stream that has presented nothing yet. */
  open(options?: ClientOptions): StreamClient;
  /** A stream that presented a token and was confirmed. */
  connect(device?: string, options?: ClientOptions): Promise<StreamClient>;
}

/** Starts emulators on free ports; after each test they and all their clients are closed. */
export function setUpEmulators() {
  const running: Emulator[] = [];
  const clients: StreamClient[] = [];
  afterEach(async () => {
    for (const { socket } of clients.splice(0)) socket.terminate();
    await Promise.all(running.splice(0).map((emulator) => emulator.close()));
  });

  return async (options: EmulatorOptions = {}): Promise<RunningEmulator> => {
    const events: EmulatorEvent[] = [];
    const watch = createWatch();
    const emulator = await createEmulator({
      ...options,
      onEvent(event) {
        events.push(event);
        options.onEvent?.(event);
        watch.changed();
      },
    });
    running.push(emulator);

    const requestToken: RunningEmulator['requestToken'] = async (device = 'device-1', init = {}) => {
      const response = await fetch(emulator.baseUrl + (init.path ?? tokenPath()), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ apiKey: init.apiKey ?? 'key-1', deviceId: device }),
      });
      const body = (await response.json()) as TokenAnswer['body'];
      return { status: response.status, headers: response.headers, body };
    };
    const token = async (device?: string) => {
      const { status, body } = await requestToken(device);
      if (body.token === undefined) throw new Error(`no token: ${status} ${JSON.stringify(body)}`);
      return body.token;
    };
    const open = (clientOptions?: ClientOptions) => {
      const client = openStream(emulator.wsUrl, clientOptions);
      clients.push(client);
      return client;
    };
    return {
      ...emulator,
      events,
      until: watch.until,
      event: (type, matches = () => true) =>
        watch.until(
          () =>
            events.find((event) => event.type === type && matches(event as never)) as
              | Extract<EmulatorEvent, { type: typeof type }>
              | undefined,
        ),
      requestToken,
      token,
      open,
      async connect(device, clientOptions) {
        const presented = await token(device);
        const client = open(clientOptions);
        await client.opened;
        await client.send(presented);
        await client.connected;
        return client;
      },
    };
  };
}

/** Starts an emulator on a free port for one test, of several that run at a time. */
export async function startEmulatorFor(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  options: EmulatorOptions = {},
): Promise<Emulator> {
  const emulator = await createEmulator(options);
  onTestFinished(emulator.close);
  return emulator;
}

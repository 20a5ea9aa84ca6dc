import { VoicectlError } from '../../kernel/errors.ts';
import { createCollector } from '../collect.ts';
import type { StreamExchange } from '../exchange.ts';
import { joinTaps, type Tap } from '../tap.ts';
import { type Connection, type ConnectOptions, connect } from './connect.ts';

/** A stream that is watched: the caller sends what it likes, and whatever comes is an observation, never an exception. */
export interface ObservedStream extends Pick<Connection, 'present' | 'sendText' | 'sendBinary' | 'ping'> {
  /** Whether the upgrade was granted and nothing has ended the stream since. What is sent otherwise is dropped. */
  readonly isOpen: boolean;
  /** The stream as far as it has come. */
  exchange(): StreamExchange;
  /**
   * Resolves with true as soon as `holds` does, which is asked after all that passes; with false once it has not for
   * `ms`, or when the stream has ended. Throws the signal's reason.
   */
  until(holds: (exchange: StreamExchange) => boolean, ms: number): Promise<boolean>;
  /** Closes with 1000, and waits for the end. */
  close(): Promise<void>;
  /** Ends it without a close frame, and waits for the end. */
  cut(): Promise<void>;
}

export type ObserveOptions = Omit<ConnectOptions, 'onText' | 'onBinary'>;

/** Opens a stream to watch. Throws the signal's reason, and nothing else. */
export async function observeStream(options: ObserveOptions): Promise<ObservedStream> {
  const { clock, signal } = options;
  const collector = createCollector();
  const watchers = new Set<() => void>();
  const look = () => {
    for (const watcher of watchers) watcher();
  };
  const tap = joinTaps(options.tap, collector.tap, { message: look, closed: look });
  const connection = await tryConnect({ ...options, tap });
  let hasEnded = connection === undefined;
  void connection?.closed.then(() => {
    hasEnded = true;
    look();
  });
  const exchange = () => {
    const stream = collector.stream();
    if (stream === undefined) throw new VoicectlError('internal', 'A stream was observed without an upgrade');
    return stream;
  };
  const whileOpen =
    <Args extends unknown[]>(send: ((...args: Args) => void) | undefined) =>
    (...args: Args) => {
      if (!hasEnded) send?.(...args);
    };
  return {
    get isOpen() {
      return !hasEnded;
    },
    exchange,
    present: whileOpen(connection?.present),
    sendText: whileOpen(connection?.sendText),
    sendBinary: whileOpen(connection?.sendBinary),
    ping: whileOpen(connection?.ping),
    until: (holds, ms) =>
      new Promise((resolve, reject) => {
        const settle = (held: boolean) => {
          watchers.delete(watcher);
          timer.cancel();
          signal.removeEventListener('abort', onAbort);
          resolve(held);
        };
        const watcher = () => {
          if (holds(exchange())) settle(true);
          else if (hasEnded) settle(false);
        };
        const onAbort = () => {
          settle(false);
          reject(signal.reason);
        };
        const timer = clock.after(ms, () => settle(false));
        if (signal.aborted) {
          timer.cancel();
          reject(signal.reason);
          return;
        }
        watchers.add(watcher);
        signal.addEventListener('abort', onAbort, { once: true });
        watcher();
      }),
    async close() {
      await connection?.close();
    },
    async cut() {
      connection?.cut();
      await connection?.closed;
    },
  };
}

/** The connection; undefined where the upgrade failed, of which the tap was told. */
async function tryConnect(options: ObserveOptions & { tap: Tap }): Promise<Connection | undefined> {
  try {
    return await connect({ ...options, onText: () => {}, onBinary: () => {} });
  } catch (thrown) {
    options.signal.throwIfAborted();
    if (thrown instanceof VoicectlError) return undefined;
    throw thrown;
  }
}

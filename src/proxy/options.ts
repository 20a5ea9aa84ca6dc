import type { ServiceOptions } from '../service/settings.ts';
import type { Tap } from '../wire/tap.ts';

/** The one service behind a proxy. */
export interface ProxyTarget {
  baseUrl: string;
  wsUrl: string;
  /** PEM certificates to trust in place of the built-in authorities. */
  ca?: string | undefined;
}

/**
 * Listening on anything but loopback needs `tls` or `allowPlaintext`. `dialect`: how the proxy itself answers, and what the
 * service is judged by; with one, remarks are violations.
 */
export interface ProxyOptions extends ServiceOptions {
  target: ProxyTarget;
  /** Allows plain HTTP beyond this machine: to the target, and to other machines. */
  allowPlaintext?: boolean;
  /** How long the target may take to answer a request. Default 10 s. */
  answerMs?: number | undefined;
  /** Records each stream into a folder of its own in this folder. */
  record?: string | undefined;
  /** Called for each stream when it opens. Returns an observer of it, as the device sees it. */
  tap?: (stream: number) => Tap | undefined;
}

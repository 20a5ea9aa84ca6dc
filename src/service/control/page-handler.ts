import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../kernel/clock.ts';
import { controlOperations, pageData } from '../../protocol/control.ts';
import { jsonMediaType } from '../../protocol/token-request.ts';
import type { Tap } from '../../wire/tap.ts';
import type { EmulatorEvents } from '../events.ts';
import { guardTap, runGuarded } from '../guard.ts';
import type { AnyControl } from './emulator-control.ts';

/** Makes a tap for the stream of this number, if it is wanted. `openForMs`: how long it has been open. */
export type ObserveStream = (stream: number, openForMs: number) => Tap | undefined;

/** What a page may see of the emulator or proxy that serves it, and how it acts on it. */
export interface PageHost {
  /** Acts on the whole service, if several emulators are one. */
  readonly control: AnyControl;
  /** The clock of the machine: audio is heard when it arrives, even if the clock of the service was moved. */
  readonly clock: Clock;
  /** Milliseconds since the emulator started, by the machine's clock. */
  elapsedMs(): number;
  /** Calls the listener for each event of this process, whoever looks. */
  subscribe: EmulatorEvents['subscribe'];
  /** Gives a tap to each open stream of this process, and to those that open until the result is called. */
  observe(createTap: ObserveStream): () => void;
  /** Removes the keys that are known from a text. */
  redact(text: string): string;
  /** The name of this emulator, if several are one service. */
  readonly instance?: () => string;
}

/** A request for the page. Its Host and Origin are already checked. */
export interface PageRequest {
  request: IncomingMessage;
  response: ServerResponse;
  /** Below the prefix of the control API, such as `/page/app.js`. */
  path: string;
  query: Record<string, string>;
  /** Whether it carries the page token, or needs none. */
  isTrusted: boolean;
}

/** Serves a page beside the control API. */
export interface PageHandler {
  /** The page token, new at each start: with it a browser proves that this page sends a request, and no other one. */
  readonly token: string;
  /** Answers the request; false if the path is not the page's. */
  answer(asked: PageRequest): Promise<boolean>;
  /** Ends what it has open. */
  close(): Promise<void>;
}

export type CreatePage = (stage: PageHost) => PageHandler;

export interface ObservedStream {
  number: number;
  /** Milliseconds; 0 for a stream that has just opened. */
  openForMs: number;
  /** Gives it one more tap. Call the result to take it away. */
  give(tap: Tap): () => void;
  onEnd(call: () => void): void;
  /** Ends the stream with what an observer threw. */
  onThrown(thrown: unknown): void;
}

/** Observers that come and go while streams are open. Without one, no stream has a tap. */
interface Observers {
  readonly any: boolean;
  opened(stream: ObservedStream): void;
  /** Gives a tap to each open stream, and to those that open until the result is called. */
  add(createTap: ObserveStream): () => void;
}

export function createObservers(open: () => Iterable<ObservedStream>): Observers {
  const all = new Set<(stream: ObservedStream) => void>();
  return {
    get any() {
      return all.size > 0;
    },
    opened(stream) {
      for (const observe of all) observe(stream);
    },
    add(createTap) {
      const stops = new Set<() => void>();
      const observe = ({ number, openForMs, give, onEnd, onThrown }: ObservedStream) =>
        runGuarded(() => {
          const tap = createTap(number, openForMs);
          if (tap === undefined) return;
          const stop = give(guardTap(tap, onThrown));
          stops.add(stop);
          onEnd(() => stops.delete(stop));
        }, onThrown);
      for (const stream of open()) observe(stream);
      all.add(observe);
      return () => {
        all.delete(observe);
        for (const stop of stops) stop();
      };
    },
  };
}

/** Media types of requests that no form of another page can send. */
const mediaTypes: readonly string[] = [jsonMediaType, ...controlOperations.speak.binary];

/** Whether a browser sent the request: browsers name the page by Origin, by Sec-Fetch-Site, or by both. */
function isFromBrowser({ headers }: IncomingMessage): boolean {
  return headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
}

/** Whether the request changes something, or reads what only the page of the emulator may read. */
function acts({ method }: IncomingMessage, path: string): boolean {
  return method !== 'GET' || path === controlOperations.live.path || path.startsWith(pageData);
}

/**
 * Whether the page that sends this request may use the control API: only a page of this origin may. If a browser sends no
 * Sec-Fetch-Site, a page of another port of this machine may send requests that only read, but the browser does not show
 * it the answers. Always true for programs.
 */
export function isPageAllowed(
  request: IncomingMessage,
  { isSecure, path }: { isSecure: boolean; path: string },
): boolean {
  const { origin, host, 'sec-fetch-site': site, 'content-type': mediaType = '' } = request.headers;
  if (!isFromBrowser(request)) return true;
  if (site !== undefined && site !== 'none' && site !== 'same-origin') return false;
  if (!acts(request, path)) return true;
  const own = `${isSecure ? 'https' : 'http'}://${host ?? ''}`.toLowerCase();
  if (origin !== undefined && origin !== own) return false;
  const hasBody = request.method !== 'GET' && request.headers['content-length'] !== '0';
  return !hasBody || mediaTypes.includes(mediaType.split(';')[0]?.trim().toLowerCase() ?? '');
}

/** Whether the request must carry the page token, which proves that the page of the emulator sends it. */
export function needsPageToken(request: IncomingMessage, path: string): boolean {
  return isFromBrowser(request) && acts(request, path);
}

/** Compares secrets in a time that does not depend on them. */
export function isSameSecret(given: string, secret: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(secret));
}

import type { Clock } from '../kernel/clock.ts';
import type { DialectInput } from '../protocol/dialect.ts';
import type { FaultInput } from '../protocol/faults.ts';
import type { CreatePage } from '../service/control/page-handler.ts';
import type { EmulatorListener } from '../service/events.ts';
import type { ScrapeOptions } from '../service/metrics/service-metrics.ts';
import type { TlsCertificate } from '../wire/server/certificate.ts';
import type { Tap } from '../wire/tap.ts';

/** The one service behind a proxy. */
export interface ProxyTarget {
  baseUrl: string;
  wsUrl: string;
  /** PEM certificates to trust in place of the built-in authorities. */
  ca?: string | undefined;
}

/** Options of a proxy. */
export interface ProxyOptions {
  target: ProxyTarget;
  /** Address to listen on; anything but loopback needs `tls` or `allowPlaintext`. Default 127.0.0.1. */
  host?: string;
  /** Default 0: a free port. */
  port?: number;
  tls?: boolean | TlsCertificate;
  /** Allows plain HTTP beyond this machine: to the target, and to other machines. */
  allowPlaintext?: boolean;
  allowHosts?: readonly string[];
  allowOrigins?: readonly string[];
  /** How the proxy itself answers, and what the service is judged by. With one, remarks are violations. */
  dialect?: DialectInput | undefined;
  /** How long the target may take to answer a request. Default 10 s. */
  answerMs?: number | undefined;
  faults?: readonly (FaultInput | string)[];
  seed?: number | undefined;
  controlSecret?: string | undefined;
  /** Records each stream into a folder of its own in this folder. */
  record?: string | undefined;
  /** Makes the page that a browser shows under the control API. Default: none. */
  page?: CreatePage | undefined;
  /** Who may scrape its metrics, and whether they name devices. Default: this machine, and no. */
  metrics?: ScrapeOptions | undefined;
  /** Time of the proxy, for tests. */
  clock?: Clock;
  /** Called for each event, from the first. */
  onEvent?: EmulatorListener;
  /** Called for each stream when it opens. Returns an observer of it, as the device sees it. */
  tap?: (stream: number) => Tap | undefined;
}

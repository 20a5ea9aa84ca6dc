import type { Clock } from '../kernel/clock.ts';
import { VoicectlError } from '../kernel/errors.ts';
import { type Dialect, type DialectInput, parseDialect } from '../protocol/dialect.ts';
import type { FaultInput } from '../protocol/faults.ts';
import { schemaProblemText } from '../protocol/schema-problem.ts';
import type { TlsCertificate } from '../wire/server/certificate.ts';
import { prepareTls } from '../wire/server/prepare-tls.ts';
import type { CreatePage } from './control/page-handler.ts';
import type { EmulatorListener } from './events.ts';
import type { ScrapeOptions } from './metrics/service-metrics.ts';

/** The options that an emulator and a proxy have in common. */
export interface ServiceOptions {
  /** Address to listen on. Default 127.0.0.1. */
  host?: string;
  /** Default 0: a free port. */
  port?: number;
  /** Host names that requests may use, besides loopback and the address it listens on. */
  allowHosts?: readonly string[];
  /** Origins of web pages that may request tokens and open streams, besides those of this machine. */
  allowOrigins?: readonly string[];
  /** HTTPS and WSS: with your certificate, or with `true` a new self-signed one. */
  tls?: boolean | TlsCertificate;
  /** Choices that the specification leaves open. Omitted ones have their defaults. */
  dialect?: DialectInput | undefined;
  /** Faults that are active from the start: `NAME:key=value,…` or objects. */
  faults?: readonly (FaultInput | string)[];
  /** Makes its own choices, such as `jti`, the same in each run. */
  seed?: number | undefined;
  /**
   * Bearer secret of the control API. Required for every request if it listens beyond loopback, else for those that a proxy
   * forwarded. Without a secret such requests are refused.
   */
  controlSecret?: string | undefined;
  /** Makes the page that a browser shows under the control API. Default: none. */
  page?: CreatePage | undefined;
  /** Who may scrape its metrics, and whether they name devices. Default: this machine, and no. */
  metrics?: ScrapeOptions | undefined;
  /** Its clock, for tests. Default: the clock of the machine. */
  clock?: Clock;
  /** Called for each event, beginning with the first. */
  onEvent?: EmulatorListener;
}

/** The same with their defaults, and with a certificate. */
export interface SettledService {
  host: string;
  port: number;
  allowHosts: readonly string[];
  allowOrigins: readonly string[];
  dialect: Dialect;
  tls: TlsCertificate | undefined;
}

export const defaultHost = '127.0.0.1';

/** Throws `bad-dialect`, and `bad-input` for a certificate that cannot be used. */
export async function settleService(options: ServiceOptions): Promise<SettledService> {
  const { host = defaultHost, port = 0, allowHosts = [], allowOrigins = [] } = options;
  return {
    ...{ host, port, allowHosts, allowOrigins },
    dialect: checkDialect(options.dialect),
    tls: await prepareTls(options.tls ?? false, { host, allowHosts }),
  };
}

/** Fills in the defaults of a dialect. Throws `bad-dialect`, naming every wrong setting. */
export function checkDialect(input: DialectInput | undefined) {
  const parsed = parseDialect(input ?? {});
  if (parsed.ok) return parsed.dialect;
  const texts = parsed.problems.map((problem) => schemaProblemText(problem));
  throw new VoicectlError('bad-dialect', `Invalid dialect: ${texts.join('; ')}`, {
    details: { problems: parsed.problems },
  });
}

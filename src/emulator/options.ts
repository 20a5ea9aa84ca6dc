import type { Clock } from '../kernel/clock.ts';
import type { DialectInput } from '../protocol/dialect.ts';
import type { FaultInput } from '../protocol/faults.ts';
import type { CreatePage } from '../service/control/page-handler.ts';
import type { EmulatorListener } from '../service/events.ts';
import type { ScrapeOptions } from '../service/metrics/service-metrics.ts';
import type { TlsCertificate } from '../wire/server/certificate.ts';
import type { Tap } from '../wire/tap.ts';
import type { CreateReply } from './replies/reply.ts';
import type { Scenario } from './scenario/scenario.ts';
import type { ScenarioInput } from './scenario/scenario-schema.ts';

/** Options of an emulator. */
export interface EmulatorOptions {
  /** Address to listen on; anything but loopback needs `acceptKeys`. Default 127.0.0.1. */
  host?: string;
  /** Default 0: a free port. */
  port?: number;
  /** Accepted API keys. Default: any non-empty key. */
  acceptKeys?: readonly string[];
  /**
   * Who speaks: a reply mode, as on the command line, a function that makes the reply of each stream, or a module that
   * exports it as `createReply`. Default `parrot`.
   */
  reply?: string | CreateReply | { createReply: CreateReply };
  /** Speed of `replay:`; 2 is twice as fast. Default 1. */
  replaySpeed?: number | undefined;
  /** Choices that the specification leaves open. Omitted ones have their defaults. */
  dialect?: DialectInput;
  /** Token requests per device and minute. Default 60. */
  rateLimit?: number;
  /** Connections per device. Default 10. */
  maxConnections?: number;
  /** Interval of pings. A device that has not answered one when the next is due is cut off. Default 15 s. */
  pingEveryMs?: number;
  /** Makes the emulator's own choices, such as `jti`, the same in each run. */
  seed?: number;
  /** Host names that requests may use, besides loopback and the address it listens on. */
  allowHosts?: readonly string[];
  /** Origins of web pages that may request tokens and open streams, besides those of this machine. */
  allowOrigins?: readonly string[];
  /** HTTPS and WSS: with your certificate, or with `true` a new self-signed one. */
  tls?: boolean | TlsCertificate;
  /**
   * Bearer secret of the control API. Required for every request if the emulator listens beyond loopback, else for those that a
   * proxy forwarded. Without a secret such requests are refused.
   */
  controlSecret?: string | undefined;
  /** Clock of the whole emulator, for tests. Default: the clock of the machine. */
  clock?: Clock;
  /** Called for each event, beginning with the first. */
  onEvent?: EmulatorListener;
  /** Called for each token request, and for each stream with its number. Returns an observer of it. */
  tap?: (stream?: number) => Tap | undefined;
  /**
   * Keeps what devices send, for `emulator.stream().audio()`: up to 10 minutes of each stream, and 40 minutes together.
   * Default false.
   */
  keepAudio?: boolean;
  /** Makes the page that a browser shows under the control API. Default: none. */
  page?: CreatePage | undefined;
  /** Who may scrape its metrics, and whether they name devices. Default: this machine, and no. */
  metrics?: ScrapeOptions | undefined;
  /** Faults from the start: `NAME:key=value,…` or objects. */
  faults?: readonly (FaultInput | string)[];
  /** Scenario for each stream: a file, the name of a shipped one, its content, or a loaded one. `reply` speaks for devices without steps. */
  scenario?: string | ScenarioInput | Scenario;
}

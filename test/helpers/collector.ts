import type {
  StreamEnd,
  StreamExchange,
  TokenExchange,
  Upgrade,
  WireMessage,
} from '../../src/wire/exchange.ts';
import type { Tap } from '../../src/wire/tap.ts';

/** A tap that keeps everything as exchanges. */
export interface Collector {
  readonly tap: Tap;
  /** The token requests so far, one for each attempt. */
  readonly tokens: readonly TokenExchange[];
  /** The stream so far; undefined before its upgrade is answered. */
  stream(): StreamExchange | undefined;
}

/** Keeps a whole conversation, audio included: only for short conversations. */
export function createCollector(): Collector {
  const tokens: TokenExchange[] = [];
  const messages: WireMessage[] = [];
  let upgrade: Upgrade | undefined;
  let end: StreamEnd | undefined;
  return {
    tokens,
    tap: {
      token: (exchange) => void tokens.push(exchange),
      opened(told) {
        upgrade = told;
      },
      message: (message) => void messages.push(message),
      closed(told) {
        end = told;
      },
    },
    stream: () => upgrade && { kind: 'stream', upgrade, messages: [...messages], end },
  };
}

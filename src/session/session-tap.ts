import { createMessageReader } from '../protocol/messages.ts';
import type { TokenExchange, WireMessage } from '../wire/exchange.ts';
import { readRateLimit } from '../wire/headers.ts';
import type { Tap } from '../wire/tap.ts';
import type { Ledger } from './ledger.ts';

/** Turns the traffic on the wire into session events. `onConfirmed` is called when the service has accepted the token. */
export function createSessionTap(ledger: Ledger, onConfirmed = (_at: number) => {}): Tap {
  const attempts: TokenExchange[] = [];
  const readText = createMessageReader();
  let presentedAt: number | undefined;

  const fromService = (message: WireMessage) => {
    if ('data' in message) ledger.received(message.data, message.at);
    if (!('text' in message)) return;
    const read = readText(message.text);
    if (read.category === 'connected' && presentedAt !== undefined) {
      ledger.took('authoriseMs', message.at - presentedAt);
      presentedAt = undefined;
      onConfirmed(message.at);
    }
    ledger.message(read, message.at);
  };
  return {
    token(exchange) {
      attempts.push(exchange);
      const { at, totalMs, answer, granted, wallAt } = exchange;
      if (granted === undefined || answer === undefined) return;
      ledger.granted({
        claims: granted.claims,
        rateLimit: readRateLimit(answer, wallAt + totalMs).rateLimit,
        status: answer.status,
        ms: at + totalMs - (attempts[0]?.at ?? at),
        attempts: attempts.length,
        at: at + totalMs,
      });
    },
    opened({ answer, breakdown, totalMs }) {
      if (answer !== undefined && breakdown === undefined) ledger.took('connectMs', totalMs);
    },
    message(message) {
      if (message.from === 'service') fromService(message);
      else if ('token' in message) presentedAt = message.at;
      else if ('data' in message) ledger.sent(message.data, message.at);
    },
    closed: ledger.closed,
  };
}

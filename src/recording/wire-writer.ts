import type { Breakdown, HttpAnswer, TokenExchange, Upgrade, WireMessage } from '../wire/exchange.ts';
import { flattenHeaders } from '../wire/headers.ts';
import type { Tap } from '../wire/tap.ts';
import type { BundleWriter } from './bundle-writer.ts';
import type { WireLine } from './format.ts';

export interface WireWriterOptions {
  writer: Pick<BundleWriter, 'wire' | 'audio'>;
  /** The device that tokens are requested for. */
  device: string;
  /** Milliseconds since the session began, of a monotonic time of the wire. */
  timeOf(at: number): number;
}

/** A tap that writes the lines of wire.jsonl, and the audio of both voices. */
export function createWireWriter({
  writer,
  device,
  timeOf,
}: WireWriterOptions): Required<Omit<Tap, 'ready'>> {
  return {
    token: (exchange) => writer.wire(tokenLine(exchange, device, timeOf)),
    opened: (upgrade) => writer.wire(upgradeLine(upgrade, timeOf)),
    message(message) {
      const t = timeOf(message.at);
      const direction = directionOf(message);
      const injected = message.injected === true ? { injected: true as const } : {};
      if ('data' in message) writer.audio(direction, t, message.data, injected);
      else if ('token' in message) writer.wire({ t, type: 'token', bytes: message.bytes });
      else if ('text' in message)
        writer.wire({ t, type: 'text', text: message.text, direction, ...injected });
    },
    closed({ at, by, code, reason }) {
      writer.wire({
        t: timeOf(at),
        type: 'close',
        by: by === 'device' ? 'client' : 'service',
        code,
        reason,
      });
    },
  };
}

function directionOf({ from }: WireMessage): 'in' | 'out' {
  return from === 'device' ? 'out' : 'in';
}

function tokenLine(
  { at, request, answer, breakdown, totalMs }: TokenExchange,
  device: string,
  timeOf: (at: number) => number,
): WireLine {
  const answered = answer && {
    headers: flattenHeaders(answer.headers),
    firstByteMs: timeOf(at + answer.firstByteMs) - timeOf(at),
  };
  const begun = { t: timeOf(at), type: 'token-request' as const, url: request.url, device };
  return { ...begun, ...outcome(answer, breakdown), ...answered, totalMs: timeOf(at + totalMs) - timeOf(at) };
}

function upgradeLine(
  { at, request, answer, breakdown, totalMs }: Upgrade,
  timeOf: (at: number) => number,
): WireLine {
  const begun = { t: timeOf(at), type: 'upgrade' as const, url: request.url };
  return { ...begun, ...outcome(answer, breakdown), totalMs: timeOf(at + totalMs) - timeOf(at) };
}

function outcome(answer: HttpAnswer | undefined, breakdown: Breakdown | undefined) {
  return {
    ...(answer && { status: answer.status }),
    ...(breakdown && { error: breakdown.message }),
  };
}

import { rm } from 'node:fs/promises';
import type { Clock } from '../kernel/clock.ts';
import { createMessageReader, isInterruption } from '../protocol/messages.ts';
import { roundMs } from '../protocol/time-text.ts';
import type { SessionEvent } from '../session/events.ts';
import type { AudioSink } from '../session/output.ts';
import type { Breakdown, HttpAnswer, TokenExchange, Upgrade, WireMessage } from '../wire/exchange.ts';
import { flattenHeaders } from '../wire/headers.ts';
import type { Tap } from '../wire/tap.ts';
import { type BundleWriter, createBundle } from './bundle-writer.ts';
import { type Manifest, schemaVersion, type WireLine } from './format.ts';

/** Records one session: its messages on the wire, and its events. */
export interface Recorder {
  /** Writes each message, and slows sending down if the disk cannot keep up. */
  tap: Tap;
  /** A sink for the session: a slow disk slows it down, and a full one ends it. */
  sink: AudioSink;
  /** Records an event. The summary is written at the end. */
  event(event: SessionEvent): void;
  /** Records each event and passes it on. Completes the recording after the last one. */
  watch(events: AsyncIterable<SessionEvent>): AsyncGenerator<SessionEvent>;
  /** How much data waits for the disk. */
  readonly waitingBytes: number;
  /** Completes the recording. Throws the first write error. */
  close(): Promise<void>;
  /** Deletes an empty recording. */
  abandon(): Promise<void>;
}

export interface RecorderOptions extends Omit<Manifest, 'schema' | 'startedAt'> {
  folder: string;
  clock: Clock;
  /** When the session began, on the clock. Default: when watching of its events begins. */
  startedAt?: number | undefined;
}

/** Starts a recording in a new folder. Throws `usage` if the folder exists, `input-output`. */
export async function createRecorder({
  folder,
  clock,
  startedAt: began,
  ...facts
}: RecorderOptions): Promise<Recorder> {
  const startedAt = new Date(clock.wall() - clock.now() + (began ?? clock.now())).toISOString();
  const writer = await createBundle(folder, { schema: schemaVersion, startedAt, ...facts });
  // Replaced when the session starts, which reads the clock in the same step.
  let origin = began ?? clock.now();
  let summary: object | undefined;
  const timeOf = (at: number) => roundMs(at - origin);
  const record = (event: SessionEvent) => {
    if (event.type === 'summary') summary = withoutType(event);
    else if (event.type !== 'audio' && event.type !== 'figures') writer.event(event);
  };
  const close = () => writer.close(timeOf(clock.now()), summary);
  return {
    tap: {
      ...createWireWriter({ writer, device: facts.device, timeOf }),
      ready: writer.taken,
      began(at) {
        origin = began ?? at;
      },
    },
    sink: { write: writer.taken, close: writer.settled, failed: writer.failed },
    event: record,
    close,
    get waitingBytes() {
      return writer.waitingBytes;
    },
    async abandon() {
      await writer.close(0, undefined);
      await rm(folder, { recursive: true });
    },
    async *watch(events) {
      origin = began ?? clock.now();
      try {
        for await (const event of events) {
          record(event);
          // If the disk fails, the sink ends the session; events before that still pass.
          await writer.taken().catch(() => {});
          yield event;
        }
      } finally {
        await close();
      }
    },
  };
}

function withoutType({ t: _t, type: _type, ...summary }: SessionEvent & { type: 'summary' }): object {
  return summary;
}

interface WireWriterOptions {
  writer: Pick<BundleWriter, 'wire' | 'audio' | 'interrupted'>;
  /** The device that the tokens are for. */
  device: string;
  /** Converts a monotonic time of the wire to milliseconds since the session began. */
  timeOf(at: number): number;
}

/** A tap that writes the lines of wire.jsonl and the audio of both voices. */
function createWireWriter({
  writer,
  device,
  timeOf,
}: WireWriterOptions): Required<Omit<Tap, 'ready' | 'began'>> {
  const interrupts = watchInterruptions();
  return {
    token: (exchange) => writer.wire(tokenLine(exchange, device, timeOf)),
    opened: (upgrade) => writer.wire(upgradeLine(upgrade, timeOf)),
    message(message) {
      const t = timeOf(message.at);
      const direction = directionOf(message);
      const injected = message.injected === true ? { injected: true as const } : {};
      if ('data' in message) writer.audio(direction, t, message.data, injected);
      else if ('token' in message) writer.wire({ t, type: 'token', bytes: message.bytes });
      else if ('text' in message) {
        writer.wire({ t, type: 'text', text: message.text, direction, ...injected });
        if (interrupts(message)) writer.interrupted(t);
      }
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

/** Whether a message of a stream reports that audio that the service sent should no longer be played. Takes each message. */
export function watchInterruptions(): (message: WireMessage) => boolean {
  const readText = createMessageReader();
  return (message) =>
    message.from === 'service' && 'text' in message && isInterruption(readText(message.text));
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

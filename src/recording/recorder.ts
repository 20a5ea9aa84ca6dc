import { rm } from 'node:fs/promises';
import type { Clock } from '../kernel/clock.ts';
import { VoicectlError } from '../kernel/errors.ts';
import { redacted } from '../kernel/redact.ts';
import { serviceUrl, streamPath, tokenPath } from '../protocol/paths.ts';
import type { SessionEvent } from '../session/events.ts';
import type { SessionClient } from '../session/options.ts';
import type { AudioSink } from '../session/output.ts';
import type { VoiceStream } from '../wire/client/voice-stream.ts';
import { type BundleWriter, createBundle } from './bundle-writer.ts';
import { type Manifest, schemaVersion, type WireLine } from './format.ts';

/** Writes one session down: what its client sends and receives, and what happens in it. */
export interface Recorder {
  /** The client, whose every message is recorded. */
  client: SessionClient;
  /** To be one of the session's: a disk that is slow holds the session up, and one that is full ends it. */
  sink: AudioSink;
  /** Passes the events on, one recorded after the other; completes the recording at their end. */
  watch(events: AsyncIterable<SessionEvent>): AsyncGenerator<SessionEvent>;
  /** Takes a recording away that nothing came into. */
  abandon(): Promise<void>;
}

export interface RecorderOptions extends Omit<Manifest, 'schema' | 'startedAt'> {
  folder: string;
  client: SessionClient;
  clock: Clock;
}

/** Begins a recording in a new folder. Throws `usage` where it is there already, `input-output`. */
export async function createRecorder({
  folder,
  client,
  clock,
  ...facts
}: RecorderOptions): Promise<Recorder> {
  const startedAt = new Date(clock.wall()).toISOString();
  const writer = await createBundle(folder, { schema: schemaVersion, startedAt, ...facts });
  // Until the session begins; it takes its own time in the same step.
  let origin = clock.now();
  const now = () => roundMs(clock.now() - origin);
  return {
    client: tapClient(client, writer, now),
    sink: { write: writer.taken, close: writer.settled },
    async abandon() {
      await writer.close(0, undefined);
      await rm(folder, { recursive: true });
    },
    async *watch(events) {
      origin = clock.now();
      let summary: object | undefined;
      try {
        for await (const event of events) {
          if (event.type === 'summary') summary = withoutType(event);
          else if (event.type !== 'audio' && event.type !== 'figures') writer.event(event);
          // A disk that has failed ends the session, by the sink; what is told until then is still told.
          await writer.taken().catch(() => {});
          yield event;
        }
      } finally {
        await writer.close(now(), summary);
      }
    },
  };
}

function withoutType({ t: _t, type: _type, ...summary }: SessionEvent & { type: 'summary' }): object {
  return summary;
}

function tapClient(client: SessionClient, writer: BundleWriter, now: () => number): SessionClient {
  return {
    async requestToken(options) {
      const t = now();
      const { baseUrl, apiVersion, deviceId: device } = options;
      const begun = {
        t,
        type: 'token-request' as const,
        url: serviceUrl(baseUrl, tokenPath(apiVersion)),
        device,
      };
      writer.conceal(options.apiKey);
      try {
        const grant = await client.requestToken(options);
        const { status, headers, timing } = grant;
        writer.conceal(grant.token);
        const { attempts, firstByteMs, totalMs } = timing;
        writer.wire({
          ...begun,
          status,
          headers: withoutCookies(headers),
          attempts,
          firstByteMs: roundMs(firstByteMs),
          totalMs: roundMs(totalMs),
        });
        return grant;
      } catch (thrown) {
        writer.wire({ ...begun, ...failureOf(thrown), totalMs: roundMs(now() - t) });
        throw thrown;
      }
    },
    async openVoiceStream(options) {
      const t = now();
      const begun = { t, type: 'upgrade' as const, url: serviceUrl(options.wsUrl, streamPath) };
      try {
        const stream = await client.openVoiceStream({
          ...options,
          onAudio(pcm) {
            writer.audio('in', now(), pcm);
            options.onAudio(pcm);
          },
          onMessage(message) {
            writer.wire({ t: now(), type: 'text', text: message.text });
            options.onMessage(message);
          },
        });
        writer.wire({ ...begun, status: 101, totalMs: roundMs(now() - t) });
        return tapStream(stream, writer, now);
      } catch (thrown) {
        writer.wire({ ...begun, ...failureOf(thrown), totalMs: roundMs(now() - t) });
        throw thrown;
      }
    },
  };
}

function tapStream(stream: VoiceStream, writer: BundleWriter, now: () => number): VoiceStream {
  let by: 'client' | 'service' = 'service';
  void stream.closed.then(({ code, reason }) => writer.wire({ t: now(), type: 'close', by, code, reason }));
  return {
    ...stream,
    present(token) {
      writer.conceal(token);
      writer.wire({ t: now(), type: 'token', bytes: Buffer.byteLength(token) });
      return stream.present(token);
    },
    sendAudio(pcm) {
      stream.sendAudio(pcm);
      writer.audio('out', now(), pcm);
    },
    async drained(bytes) {
      await writer.taken();
      await stream.drained(bytes);
    },
    close() {
      by = 'client';
      return stream.close();
    },
  };
}

/** To a tenth of a millisecond, as the times of events. */
function roundMs(ms: number): number {
  return Math.round(ms * 10) / 10;
}

type Failure = Pick<Extract<WireLine, { type: 'upgrade' }>, 'status' | 'error'>;

function failureOf(thrown: unknown): Failure {
  if (!(thrown instanceof VoicectlError)) return { error: String(thrown) };
  const { status } = thrown.details;
  return { ...(typeof status === 'number' ? { status } : {}), error: thrown.message };
}

/** A cookie may be as good as a token. */
function withoutCookies(headers: Record<string, string>): Record<string, string> {
  return 'set-cookie' in headers ? { ...headers, 'set-cookie': redacted } : headers;
}

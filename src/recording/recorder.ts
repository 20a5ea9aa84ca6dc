import { rm } from 'node:fs/promises';
import type { Clock } from '../kernel/clock.ts';
import type { SessionEvent } from '../session/events.ts';
import type { AudioSink } from '../session/output.ts';
import type { Tap } from '../wire/tap.ts';
import { type BundleWriter, createBundle } from './bundle-writer.ts';
import { type Manifest, schemaVersion } from './format.ts';
import { createWireWriter } from './wire-writer.ts';

/** Records one session: the messages on its wire, and its events. */
export interface Recorder {
  /** Writes each message, and slows sending down if the disk cannot keep up. */
  tap: Tap;
  /** A sink for the session: a slow disk slows the session down, a full one ends it. */
  sink: AudioSink;
  /** Passes the events on, one recorded after the other; completes the recording at their end. */
  watch(events: AsyncIterable<SessionEvent>): AsyncGenerator<SessionEvent>;
  /** Deletes an empty recording. */
  abandon(): Promise<void>;
}

export interface RecorderOptions extends Omit<Manifest, 'schema' | 'startedAt'> {
  folder: string;
  clock: Clock;
  /** When the session began, on the clock. Default: when its events are watched. */
  startedAt?: number | undefined;
}

/** Starts a recording in a new folder. Throws `usage` if the folder exists, `input-output`. */
export async function createRecorder({
  folder,
  clock,
  startedAt: began,
  ...facts
}: RecorderOptions): Promise<Recorder> {
  const startedAt = new Date(clock.wall()).toISOString();
  const writer = await createBundle(folder, { schema: schemaVersion, startedAt, ...facts });
  // Until the session starts, which reads the clock in the same step.
  let origin = began ?? clock.now();
  const timeOf = (at: number) => roundMs(at - origin);
  return {
    tap: { ...createWireWriter({ writer, device: facts.device, timeOf }), ready: writer.taken },
    sink: { write: writer.taken, close: writer.settled },
    async abandon() {
      await writer.close(0, undefined);
      await rm(folder, { recursive: true });
    },
    async *watch(events) {
      origin = began ?? clock.now();
      let summary: object | undefined;
      try {
        for await (const event of events) {
          if (event.type === 'summary') summary = withoutType(event);
          else await record(writer, event);
          yield event;
        }
      } finally {
        await writer.close(timeOf(clock.now()), summary);
      }
    },
  };
}

/** If the disk fails, the sink ends the session; events before that still pass. */
async function record(
  writer: BundleWriter,
  event: Exclude<SessionEvent, { type: 'summary' }>,
): Promise<void> {
  if (event.type !== 'audio' && event.type !== 'figures') writer.event(event);
  await writer.taken().catch(() => {});
}

function withoutType({ t: _t, type: _type, ...summary }: SessionEvent & { type: 'summary' }): object {
  return summary;
}

/** To a tenth of a millisecond, as the times of events. */
function roundMs(ms: number): number {
  return Math.round(ms * 10) / 10;
}

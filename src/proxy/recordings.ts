import { mkdir } from 'node:fs/promises';
import { writeFailure } from '../files/refusal.ts';
import type { Clock } from '../kernel/clock.ts';
import type { EmulatorEvent } from '../service/events.ts';
import type { Tap } from '../wire/tap.ts';
import type { TokenMatches } from './match-tokens.ts';
import type { ProxyTarget } from './options.ts';
import type { ProxyEvents } from './proxy-events.ts';
import { recordStream, type StreamRecording } from './record-stream.ts';

/** Records every stream of a proxy. */
export interface Recordings {
  /** Begins the recording of a stream. */
  tap(stream: number): Tap;
  /** Completes the recording of a stream that has ended. */
  ended(stream: number): void;
  /** Resolves when all recordings are complete. */
  close(): Promise<void>;
}

/** Makes the folder if it does not exist. Throws `input-output`. */
export async function openRecordings(
  folder: string,
  {
    target,
    clock,
    matches,
    events,
  }: { target: ProxyTarget; clock: Clock; matches: TokenMatches; events: ProxyEvents },
): Promise<Recordings> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((thrown) => {
    throw writeFailure(folder, thrown);
  });
  const open = new Map<number, StreamRecording>();
  const closing = new Set<Promise<void>>();
  const note = (event: EmulatorEvent) => {
    if ((event.type === 'violation' || event.type === 'remark') && event.stream !== undefined)
      open.get(event.stream)?.judged(event);
  };
  const stop = events.subscribe(note);
  const ended = (stream: number) => {
    const closed = open.get(stream)?.close();
    open.delete(stream);
    if (closed === undefined) return;
    closing.add(closed);
    void closed.finally(() => closing.delete(closed));
  };
  const { baseUrl, wsUrl } = target;
  return {
    tap(stream) {
      const recording = recordStream({
        ...{ folder, stream, baseUrl, wsUrl, clock, matches },
        onProblem: ({ message }) => events.emit({ type: 'recording-failed', stream, why: message }),
      });
      open.set(stream, recording);
      return recording.tap;
    },
    ended,
    async close() {
      for (const stream of open.keys()) ended(stream);
      await Promise.all(closing);
      stop();
    },
  };
}

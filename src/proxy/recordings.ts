import { join, resolve } from 'node:path';
import { makeFolder } from '../files/make-folder.ts';
import { writeFailure } from '../files/refusal.ts';
import type { Clock } from '../kernel/clock.ts';
import { recordStream, type StreamRecording } from '../recording/record-stream.ts';
import { noticeOf } from '../service/events.ts';
import type { Tap } from '../wire/tap.ts';
import type { TokenMatches } from './match-tokens.ts';
import type { ProxyTarget } from './options.ts';
import type { ProxyEvents } from './proxy-events.ts';
import type { Secrets } from './secrets.ts';

/** Records every stream of a proxy, as its device sees it. */
export interface ProxyRecordings {
  /** Begins the recording of a stream. */
  tap(stream: number): Tap;
  /** Completes the recording of a stream that has ended. */
  ended(stream: number): void;
  /** Resolves when all recordings are complete. */
  close(): Promise<void>;
}

/** Creates the folder if it does not exist. Throws `input-output`. */
export async function openRecordings(
  folder: string,
  {
    target,
    clock,
    matches,
    events,
    secrets,
  }: { target: ProxyTarget; clock: Clock; matches: TokenMatches; events: ProxyEvents; secrets: Secrets },
): Promise<ProxyRecordings> {
  await makeFolder(resolve(folder)).catch((thrown) => {
    throw writeFailure(folder, thrown);
  });
  const open = new Map<number, StreamRecording>();
  const closing = new Set<Promise<void>>();
  const stop = events.subscribe((event) => {
    const recording = 'stream' in event && event.stream !== undefined ? open.get(event.stream) : undefined;
    const notice = recording && noticeOf(event);
    if (notice !== undefined) recording?.notice(notice);
  });
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
        ...{ baseUrl, wsUrl, clock, source: 'proxy' },
        folderOf: (device) => join(folder, folderName(stream, device, clock)),
        ownerOf: (token) => ({ device: matches.deviceOf(token) ?? '', granted: matches.find(token.hash) }),
        redact: (text) => secrets.redactor().text(text),
        onFailure: ({ message }) => events.emit({ type: 'recording-failed', stream, why: message }),
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

/** `2026-11-21T14-38-48-972Z-1-lamp`: sorts by time, and has no character that is special in a path. */
function folderName(stream: number, device: string, clock: Clock): string {
  const at = new Date(clock.wall()).toISOString().replace(/[:.]/g, '-');
  const name = device.replace(/[^\w-]+/g, '_').slice(0, 60);
  return [at, stream, ...(name === '' ? [] : [name])].join('-');
}

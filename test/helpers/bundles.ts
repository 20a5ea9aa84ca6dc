import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { type BundleWriter, createBundle } from '../../src/recording/bundle-writer.ts';
import type { Manifest, RecordedEvent } from '../../src/recording/format.ts';
import { readRecording } from '../../src/recording/read-recording.ts';
import { createRecorder } from '../../src/recording/recorder.ts';
import type { SessionEvent } from '../../src/session/events.ts';
import type { SessionClient } from '../../src/session/options.ts';
import type { VoiceStreamOptions } from '../../src/wire/client/voice-stream.ts';
import { createManualClock } from './manual-clock.ts';

export const manifest: Manifest = {
  schema: 1,
  version: '0.0.0',
  startedAt: '2026-01-01T00:00:00.000Z',
  device: 'device-1',
  baseUrl: 'http://voice.test',
  wsUrl: 'ws://voice.test',
  source: 'a.wav',
  settleMs: 1_500,
};

/** Folders for recordings, removed after each test. */
export function setUpBundles() {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  /** The path of a folder that is not there yet. */
  const newPath = () => {
    const parent = mkdtempSync(join(tmpdir(), 'voicectl-recording-'));
    folders.push(parent);
    return join(parent, 'recording');
  };
  return {
    newPath,
    /** Writes a recording by hand. */
    async write(
      fill: (writer: BundleWriter) => void,
      { endMs = 0, summary = undefined as object | undefined } = {},
    ) {
      const folder = newPath();
      const writer = await createBundle(folder, manifest);
      fill(writer);
      await writer.close(endMs, summary);
      return readRecording(folder);
    },
  };
}

/** What a service says, as events and lines of the wire at once. */
export function message(
  writer: BundleWriter,
  t: number,
  category: string,
  body: Record<string, unknown>,
): void {
  writer.wire({ t, type: 'text', text: JSON.stringify(body) });
  writer.event({ t, type: 'message', category, kind: String(body.type), body } as RecordedEvent);
}

/** A recorder on a clock that the test moves, around a client that is a script. */
export async function startRecorder(folder: string) {
  const clock = createManualClock();
  let handlers: VoiceStreamOptions | undefined;
  let endStream: (close: { code: number; reason: string }) => void = () => {};
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    endStream = resolve;
  });
  const client: SessionClient = {
    requestToken: async () => ({
      token: 'eyJh.eyJz.c2lnbmF0dXJl',
      status: 200,
      headers: { 'set-cookie': 'session=1', date: 'today' },
      rateLimit: { limit: 60, remaining: 59, resetAtMs: 60_000 },
      timing: { attempts: 1, firstByteMs: 3, totalMs: 5 },
    }),
    openVoiceStream: async (options) => {
      handlers = options;
      return {
        closed,
        breakage: () => undefined,
        present: async () => {},
        sendAudio: () => {},
        drained: async () => {},
        pause: () => {},
        resume: () => {},
        close: () => {
          endStream({ code: 1000, reason: '' });
          return closed;
        },
      };
    },
  };
  const { version, device, baseUrl, wsUrl, source, settleMs } = manifest;
  const recorder = await createRecorder({
    folder,
    client,
    clock,
    version,
    device,
    baseUrl,
    wsUrl,
    source,
    settleMs,
  });
  const events: SessionEvent[] = [];
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const watched = (async () => {
    const passed: SessionEvent[] = [];
    async function* source() {
      yield* events;
      await ended;
    }
    for await (const event of recorder.watch(source())) passed.push(event);
    return passed;
  })();
  return {
    clock,
    recorder,
    requestToken: () =>
      recorder.client.requestToken({
        baseUrl,
        apiKey: 'key-canary',
        deviceId: device,
        retries: 0,
        clock,
        signal: new AbortController().signal,
      }),
    openVoiceStream: (onAudio = (_pcm: Buffer) => {}) =>
      recorder.client.openVoiceStream({
        wsUrl,
        clock,
        signal: new AbortController().signal,
        onAudio,
        onMessage: () => {},
      }),
    get service() {
      if (handlers === undefined) throw new Error('no stream was opened');
      return handlers;
    },
    closeByService: endStream,
    /** Ends the events, and with them the recording. */
    async finish() {
      end();
      return watched;
    },
  };
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { type BundleWriter, createBundle } from '../../src/recording/bundle-writer.ts';
import type { Manifest, RecordedEvent } from '../../src/recording/format.ts';
import { readRecording } from '../../src/recording/read-recording.ts';
import { createRecorder, type RecorderOptions } from '../../src/recording/recorder.ts';
import type { SessionEvent } from '../../src/session/events.ts';
import type { Side } from '../../src/wire/exchange.ts';
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

/** A recorder on a clock that the test moves; the test tells its tap what passes. */
export async function startRecorder(folder: string, { startedAt }: Pick<RecorderOptions, 'startedAt'> = {}) {
  const clock = createManualClock();
  const { version, device, baseUrl, wsUrl, source, settleMs } = manifest;
  const facts = { version, device, baseUrl, wsUrl, source, settleMs };
  const recorder = await createRecorder({ folder, clock, startedAt, ...facts });
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
  const { tap } = recorder;
  const audio = (from: Side) => (data: Buffer) =>
    tap.message?.({ at: clock.now(), from, opcode: 'binary', data, bytes: data.length });
  return {
    clock,
    recorder,
    tap,
    sendAudio: audio('device'),
    receiveAudio: audio('service'),
    receiveText: (text: string) =>
      tap.message?.({ at: clock.now(), from: 'service', opcode: 'text', text, bytes: text.length }),
    close: (by: Side, code: number, reason = '') =>
      tap.closed?.({ at: clock.now(), by, code, reason, breakdown: undefined }),
    /** Ends the events, and with them the recording. */
    async finish() {
      end();
      return watched;
    },
  };
}

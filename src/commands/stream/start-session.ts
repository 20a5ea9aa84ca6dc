import type { SessionEvent } from '../../session/events.ts';
import type { SessionOptions } from '../../session/options.ts';
import type { AudioSink } from '../../session/output.ts';
import { runSession } from '../../session/session.ts';

export interface StartOptions {
  /** Folder of the recording; undefined: no recording. */
  folder: string | undefined;
  openSinks(): Promise<AudioSink[]>;
  signal: AbortSignal;
}

/** The events of a session, recorded on request. Throws what opening the recording and the sinks throws. */
export async function startSession(
  options: Omit<SessionOptions, 'sinks'>,
  { folder, openSinks, signal }: StartOptions,
): Promise<AsyncIterable<SessionEvent>> {
  const recorder = folder === undefined ? undefined : await openRecorder(options, folder);
  // Last, so that an existing file is emptied only when the session begins.
  const sinks = await openSinks().catch(async (thrown) => {
    await recorder?.abandon();
    throw thrown;
  });
  if (recorder === undefined) return runSession({ ...options, sinks }, signal);
  const { tap, sink } = recorder;
  return recorder.watch(runSession({ ...options, tap, sinks: [...sinks, sink] }, signal));
}

async function openRecorder(options: Omit<SessionOptions, 'sinks'>, folder: string) {
  const { createRecorder } = await import('../../recording/recorder.ts');
  const { clock, version, device, baseUrl, wsUrl, sourceName: source, settleMs } = options;
  return createRecorder({ folder, clock, version, device, baseUrl, wsUrl, source, settleMs });
}

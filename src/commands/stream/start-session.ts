import type { StereoFileOptions } from '../../recording/stereo-file.ts';
import type { SessionEvent } from '../../session/events.ts';
import type { SessionOptions } from '../../session/options.ts';
import type { AudioSink } from '../../session/output.ts';
import { runSession } from '../../session/session.ts';
import { joinTaps } from '../../wire/tap.ts';

export interface StartOptions {
  /** Folder of the recording; undefined: no recording. */
  folder: string | undefined;
  /** Stereo WAV of both voices; undefined: none. */
  both: { path: string; giveUp: AbortSignal } | undefined;
  openSinks(): Promise<AudioSink[]>;
  signal: AbortSignal;
}

/** The events of a session, recorded on request. Throws what opening the recording and the sinks throws. */
export async function startSession(
  options: Omit<SessionOptions, 'sinks'>,
  { folder, both, openSinks, signal }: StartOptions,
): Promise<AsyncIterable<SessionEvent>> {
  const recorder = folder === undefined ? undefined : await openRecorder(options, folder);
  // Last, so that existing files are emptied only when the session begins.
  const sinks = await openSinks().catch(async (thrown) => {
    await recorder?.abandon();
    throw thrown;
  });
  const stereo =
    both === undefined
      ? undefined
      : await openStereo({ ...both, clock: options.clock }).catch(async (thrown) => {
          await Promise.allSettled(sinks.map((sink) => sink.close(thrown)));
          await recorder?.abandon();
          throw thrown;
        });
  const recorders = [recorder, stereo].filter((one) => one !== undefined);
  if (recorders.length === 0) return runSession({ ...options, sinks }, signal);
  const tap = joinTaps(...recorders.map((one) => one.tap));
  const session = runSession(
    { ...options, tap, sinks: [...sinks, ...recorders.map(({ sink }) => sink)] },
    signal,
  );
  return recorders.reduce<AsyncIterable<SessionEvent>>((events, one) => one.watch(events), session);
}

async function openStereo(options: StereoFileOptions) {
  const { createStereoFile } = await import('../../recording/stereo-file.ts');
  return createStereoFile(options);
}

async function openRecorder(options: Omit<SessionOptions, 'sinks'>, folder: string) {
  const { createRecorder } = await import('../../recording/recorder.ts');
  const { clock, version, device, baseUrl, wsUrl, sourceName: source, settleMs } = options;
  return createRecorder({ folder, clock, version, device, baseUrl, wsUrl, source, settleMs });
}

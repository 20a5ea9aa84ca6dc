import { openRawFile, openRawStream } from '../../audio/raw-source.ts';
import { type AudioSource, describeFormat, wireFormat } from '../../audio/source.ts';
import { createWavFile } from '../../audio/wav/wav-file.ts';
import { openWavFile, openWavStream } from '../../audio/wav/wav-source.ts';
import { nameOf } from '../../files/refusal.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import type { Io } from '../../kernel/io.ts';
import { connectedKind } from '../../protocol/messages.ts';
import type { StereoFileOptions } from '../../recording/stereo-file.ts';
import { type RepeatEvent, type RepeatSummary, type RunResult, runRepeatedly } from '../../runs/repeat.ts';
import type { SessionEvent, SessionState } from '../../session/events.ts';
import { foldAudio } from '../../session/fold-audio.ts';
import { type SessionOptions, shownDevice } from '../../session/options.ts';
import type { AudioSink } from '../../session/output.ts';
import { runSession } from '../../session/session.ts';
import { joinTaps } from '../../wire/tap.ts';
import type { ContextOf } from '../command.ts';
import { openTarget } from '../service/target.ts';
import type { LiveEnds } from './live-ends.ts';
import type { ConversationFile } from './open-conversation.ts';
import { refuseInputForBoth, sessionOptions } from './session-settings.ts';
import { checkSoundFlags, isPlayed } from './sound-flags.ts';
import type { StreamView } from './view.ts';

export interface RunReports {
  /** Called when the sessions begin, also when the user asks for them again. */
  began(): void;
  /** Called for each run that counts. */
  ran(result: RunResult): void;
  /** Called with the result of several runs. */
  total(summary: RepeatSummary): void;
  /** Called with each event before it is shown. */
  passed?: ((event: RepeatEvent) => Promise<void>) | undefined;
}

/** Opens both ends, and runs one session or several. */
export async function runSessions(
  context: ContextOf<'stream'>,
  view: StreamView,
  reports: RunReports,
): Promise<void> {
  const { settings, io } = context;

  const { repeat, warmup } = settings;
  checkSoundFlags(context);
  const isLive = settings.mic || isPlayed(context);
  const named = settings.file ?? settings.raw ?? settings.replay ?? settings.expectFile;
  context.awaits(named && nameOf(named));
  const file = await openSource(context);
  context.awaits(undefined);
  requireRepeatable(context, file?.source);
  const target = await openTarget(context, {
    needsKey: settings.tokenFrom === undefined,
  });
  let live: LiveEnds | undefined;
  try {
    live = isLive ? await (await import('./live-ends.ts')).openLiveEnds(context) : undefined;
    const source = file ?? live?.microphone;
    if (source === undefined) throw new TypeError('a session without a file has a microphone');
    const { conversation } = file ?? {};
    const options = {
      ...(await sessionOptions(context, { target, source, conversation, live })),
      tap: view.tap,
    };
    const heard = live?.sinks ?? [];
    view.attach(live);
    await view.run(async function* (until, enough) {
      reports.began();
      let state: SessionState = 'token';
      let isAnswered = false;
      const startRun = async function* () {
        const events = await startSession(
          { ...options, ...(enough === undefined ? {} : { enough }) },
          {
            folder: settings.record,
            both:
              settings.recordBoth === undefined
                ? undefined
                : { path: settings.recordBoth, giveUp: io.giveUp },
            async openSinks() {
              await live?.record();
              return [...(await openSinks(settings.out, io)), ...heard];
            },
            signal: until,
          },
        );
        yield* view.isDetailed ? events : foldAudio(events, 1_000);
      };
      const several = {
        clock: options.clock,
        device: shownDevice(options),
        repeat,
        warmup,
        onRun: reports.ran,
      };
      for await (const event of runRepeatedly(startRun, several, until)) {
        if (event.type === 'session') isAnswered = false;
        if (event.type === 'audio' && event.direction === 'in') isAnswered = true;
        if (event.type === 'state') state = event.state;
        if (event.type === 'state' || event.type === 'audio') context.awaits(awaitedIn(state, isAnswered));
        if (event.type === 'summary' && 'runs' in event) reports.total(event);
        await reports.passed?.(event);
        yield event;
      }
    });
  } finally {
    try {
      await live?.close();
    } finally {
      await target.close();
    }
  }
}

/** What a session waits for in each state. `isAnswered`: whether the AI has been heard. */
function awaitedIn(state: SessionState, isAnswered: boolean): string {
  const awaited: Readonly<Record<SessionState, string>> = {
    token: 'the token',
    connecting: 'the answer to the upgrade',
    authorising: connectedKind,
    live: 'the end of the conversation',
    draining: isAnswered ? 'the rest of the reply' : 'the reply',
    closed: 'the end of the session',
  };
  return awaited[state];
}

/** Where the AI audio goes: a WAV file, raw PCM on standard output (`-`), or nowhere. */
async function openSinks(
  out: string | undefined,
  { stdout, giveUp }: Pick<Io, 'stdout' | 'giveUp'>,
): Promise<AudioSink[]> {
  if (out === undefined) return [];
  if (out === '-') return [{ write: (pcm) => stdout.write(pcm), close: async () => {} }];
  return [await createWavFile(out, { giveUp })];
}

/** Throws `usage` if several sessions are requested with a source or file for only one. */
function requireRepeatable(context: ContextOf<'stream'>, source: AudioSource | undefined): void {
  const { settings } = context;
  const { repeat, warmup, tokenFrom } = settings;
  if (repeat + warmup === 1) return;
  const flag = repeat > 1 ? '--repeat' : '--warmup';
  if (!source?.repeatable) {
    throw new VoicectlError('usage', `${flag} needs a file that can be read again; this source cannot be`);
  }
  const kept = [
    settings.out !== undefined && '--out',
    settings.record !== undefined && '--record',
    settings.recordBoth !== undefined && '--record-both',
    isPlayed(context) && '--play',
  ].find((flag) => typeof flag === 'string');
  if (kept !== undefined) {
    throw new VoicectlError('usage', `${kept} is for one session, but ${flag} runs several`);
  }
  if (tokenFrom !== undefined) {
    throw new VoicectlError('usage', `One token opens only one session, but ${flag} runs several`);
  }
}

interface StartOptions {
  /** Folder of the recording; undefined: no recording. */
  folder: string | undefined;
  /** Stereo WAV of both voices; undefined: none. */
  both: { path: string; giveUp: AbortSignal } | undefined;
  openSinks(): Promise<AudioSink[]>;
  signal: AbortSignal;
}

/** The events of a session, recorded on request. Throws what opening the recording and the sinks throws. */
async function startSession(
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
  const tap = joinTaps(...recorders.map((one) => one.tap), options.tap);
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
  const { clock, version, baseUrl, wsUrl, sourceName: source, settleMs } = options;
  const device = shownDevice(options);
  return createRecorder({ folder, clock, version, device, baseUrl, wsUrl, source, settleMs });
}

interface OpenedSource {
  source: AudioSource;
  name: string;
  /** The conversation of `--expect-file`. Then the source is empty. */
  conversation?: ConversationFile;
}

/**
 * Opens the file of the flags; undefined if they name the microphone. Throws `usage` for no source or several,
 * `bad-input` for one that cannot be read.
 */
async function openSource(context: ContextOf<'stream'>): Promise<OpenedSource | undefined> {
  const { settings, origin, io, signal } = context;
  const { file, raw, mic, replay, expectFile, strictFormat, loop, pace } = settings;
  const path = file ?? raw ?? replay ?? expectFile;
  const named = [file, raw, replay, expectFile, mic || undefined].filter((one) => one !== undefined);
  if (named.length !== 1) {
    const what = named.length === 0 ? 'Nothing to stream' : 'More than one source to stream';
    throw new VoicectlError('usage', what, {
      hint: 'Give one of --file PATH, --raw PATH, --mic, --replay DIR or --expect-file FILE.',
    });
  }
  if (path === undefined) return undefined;
  if (path === '-') refuseInputForBoth(context, 'the audio');
  const name = nameOf(path);
  if (expectFile !== undefined) {
    if (pace === 'max' && origin('pace') === 'flag')
      throw new VoicectlError('usage', 'A conversation runs in real time: --pace max cannot be used');
    const { openConversation } = await import('./open-conversation.ts');
    const conversation = await openConversation(path, { strictFormat, env: io.env, stdin: io.stdin, signal });
    return { source: nothing, name, conversation };
  }
  const source = await open(path);
  if (loop && !source.repeatable) {
    throw new VoicectlError('usage', `--loop needs a file that can be read again; ${name} cannot`);
  }
  return { source, name };

  async function open(path: string): Promise<AudioSource> {
    if (replay !== undefined) {
      const { openReplaySource } = await import('../../recording/replay-source.ts');
      return openReplaySource(replay);
    }
    const isInput = path === '-';
    if (raw !== undefined)
      return isInput ? openRawStream(io.stdin, { signal }) : openRawFile(raw, { signal });
    const options = { strictFormat, signal };
    return isInput ? openWavStream(io.stdin, options) : openWavFile(path, options);
  }
}

/** Stands in for the source when a conversation provides the audio. */
const nothing: AudioSource = {
  description: describeFormat(wireFormat),
  durationMs: 0,
  repeatable: true,
  async *read() {},
};

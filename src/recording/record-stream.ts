import { describeFormat, wireFormat } from '../audio/source-format.ts';
import { defaultSettleMs as settleMs } from '../kernel/audio-limits.ts';
import type { Clock } from '../kernel/clock.ts';
import { toVoicectlError, VoicectlError } from '../kernel/errors.ts';
import { queueCostBytes } from '../kernel/queue-cost.ts';
import { version } from '../kernel/version.ts';
import { roundMs } from '../protocol/time-text.ts';
import type { SessionEventBody } from '../session/events.ts';
import type { ExpectationVerdict } from '../session/expectations.ts';
import { createLedger, type EmitEvent, type Ledger } from '../session/ledger.ts';
import { createSessionTap } from '../session/session-tap.ts';
import type { TokenExchange, TokenFacts } from '../wire/exchange.ts';
import { joinTaps, type Tap } from '../wire/tap.ts';
import { createRecorder, type Recorder } from './recorder.ts';

/** A warning about the stream beside its traffic. */
type StreamNotice = Omit<Extract<SessionEventBody, { type: 'warning' }>, 'type'> & {
  /** A broken rule: the stream is not as it should be. */
  broken?: ExpectationVerdict;
};

/** Records one stream, as a tap sees it: a session that `inspect` and `replay` read. */
export interface StreamRecording {
  tap: Tap;
  notice(notice: StreamNotice): void;
  /** Completes the recording. */
  close(): Promise<void>;
}

export interface StreamRecordingOptions {
  /** The folder to make, once it is known whose stream it is; the name of a device may be empty. */
  folderOf(device: string): string;
  baseUrl: string;
  wsUrl: string;
  /** What is recorded, for people. */
  source: string;
  /** The clock of the tap. */
  clock: Clock;
  /** The device, if its token was presented before: the recording begins at once. */
  device?: string | undefined;
  /** Whose token it is, and the request that granted it, if that was seen. */
  ownerOf(token: TokenFacts): { device: string; granted?: TokenExchange | undefined };
  /** Called once if the recording cannot go on. The stream does. */
  onFailure(failure: VoicectlError): void;
}

/** A stream cannot be slowed down by its recording: with more than this before the disk the recording ends. */
const maxWaitingBytes = 8 * 1024 * 1024;
/** A token that has not come by then is not waited for. */
const maxHeldBytes = 1024 * 1024;

/** Begins when the token names the device, or at the end of a stream without one; what passed before is held until then. */
export function recordStream(options: StreamRecordingOptions): StreamRecording {
  const { clock, ownerOf } = options;
  const held: ((to: RecordedSession) => void)[] = [];
  let heldBytes = 0;
  let startedAt = clock.now();
  let starting: Promise<void> | undefined;
  let session: RecordedSession | undefined;
  let failure: VoicectlError | undefined;

  const fail = (thrown: unknown) => {
    if (failure !== undefined) return;
    failure = toVoicectlError(thrown);
    held.length = 0;
    options.onFailure(failure);
  };
  const begin = (device: string, granted?: TokenExchange) => {
    startedAt = granted?.at ?? startedAt;
    starting ??= startSession(options, device, startedAt).then((started) => {
      session = started;
      void started.recorder.sink.failed?.then(fail);
      if (granted !== undefined) started.tap.token?.(granted);
      for (const call of held.splice(0)) call(started);
    }, fail);
  };
  const pass = (bytes: number, call: (to: RecordedSession) => void) => {
    if (failure !== undefined) return;
    if (session !== undefined) call(session);
    else {
      held.push(call);
      heldBytes += queueCostBytes(bytes);
    }
    if (heldBytes > maxHeldBytes) begin('');
    if ((session?.recorder.waitingBytes ?? heldBytes) > maxWaitingBytes)
      fail(new VoicectlError('input-output', 'The disk cannot keep up'));
  };
  if (options.device !== undefined) {
    begin(options.device);
    pass(0, ({ ledger }) => ledger.emit({ type: 'state', state: 'live' }, startedAt));
  }
  return {
    tap: {
      opened(upgrade) {
        startedAt = upgrade.at;
        pass(0, ({ tap }) => tap.opened?.(upgrade));
      },
      message(message) {
        pass(message.bytes, ({ tap }) => tap.message?.(message));
        if (!('token' in message)) return;
        const { device, granted } = ownerOf(message.token);
        begin(device, granted);
      },
      closed: (end) => pass(0, ({ tap }) => tap.closed?.(end)),
    },
    notice(notice) {
      const at = clock.now();
      pass(0, (to) => to.notice(notice, at));
    },
    async close() {
      begin('');
      await starting;
      await session?.close().catch(fail);
    },
  };
}

/** What a tap reports of one stream as a session, and the recording of both. */
interface RecordedSession {
  recorder: Recorder;
  tap: Tap;
  ledger: Ledger;
  notice(notice: StreamNotice, at: number): void;
  close(): Promise<void>;
}

async function startSession(
  { folderOf, baseUrl, wsUrl, source, clock }: StreamRecordingOptions,
  device: string,
  startedAt: number,
): Promise<RecordedSession> {
  const facts = { version, device, baseUrl, wsUrl, source };
  const recorder = await createRecorder({ ...facts, settleMs, folder: folderOf(device), clock, startedAt });
  const emit: EmitEvent = (body, at = clock.now()) => recorder.event({ t: roundMs(at - startedAt), ...body });
  const ledger = createLedger(
    { clock, settleMs, waitMs: 0, device, expectations: {}, startedAt },
    { emit, playback: () => ({ underruns: null, playbackDelayMs: null }), conversation: undefined },
  );
  const broken: ExpectationVerdict[] = [];
  emit({ type: 'session', ...facts, format: describeFormat(wireFormat).text }, startedAt);
  return {
    recorder,
    ledger,
    tap: joinTaps(
      recorder.tap,
      createSessionTap(ledger, (at) => emit({ type: 'state', state: 'live' }, at)),
    ),
    notice({ broken: verdict, ...warning }, at) {
      if (verdict !== undefined) broken.push(verdict);
      emit({ type: 'warning', ...warning }, at);
    },
    async close() {
      ledger.sourceEnded();
      emit({ type: 'summary', ...ledger.summary(undefined, broken, null), ok: broken.length === 0 });
      await recorder.close();
    },
  };
}

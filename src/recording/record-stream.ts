import { describeFormat, wireFormat } from '../audio/source.ts';
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

/** A warning about the stream that is not part of its traffic. */
type StreamNotice = Omit<Extract<SessionEventBody, { type: 'warning' }>, 'type'> & {
  /** Set for a broken rule: the stream is not ok. */
  broken?: ExpectationVerdict;
};

/** Records one stream as a tap sees it, as a session that `inspect` and `replay` can read. */
export interface StreamRecording {
  tap: Tap;
  notice(notice: StreamNotice): void;
  /** Completes the recording. */
  close(): Promise<void>;
}

export interface StreamRecordingOptions {
  /** The folder to create, called once it is known whose stream it is. `device` may be empty. */
  folderOf(device: string): string;
  baseUrl: string;
  wsUrl: string;
  /** Name of the source, for display. */
  source: string;
  /** The clock of the tap. */
  clock: Clock;
  /** The device, if it has already presented its token: the recording begins at once. */
  device?: string | undefined;
  /** The device of the token, and the request that granted it, if that was seen. */
  ownerOf(token: TokenFacts): { device: string; granted?: TokenExchange | undefined };
  /** Removes secrets from a text. */
  redact?: (text: string) => string;
  /** Called once if the recording cannot continue. The stream continues. */
  onFailure(failure: VoicectlError): void;
}

/** A recording never slows its stream down: if more than this waits for the disk, the recording ends. */
const maxWaitingBytes = 8 * 1024 * 1024;
/** If more than this is held, the recording no longer waits for a token. */
const maxHeldBytes = 1024 * 1024;

/** Begins when the token names the device, or at the end of a stream without a token. Earlier traffic is held until then. */
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
    // A device may open its stream before it requests the token.
    startedAt = Math.min(startedAt, granted?.at ?? startedAt);
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
      await session?.close(failure === undefined).catch(fail);
    },
  };
}

/** The session that is made from what a tap reports, and its recording. */
interface RecordedSession {
  recorder: Recorder;
  tap: Tap;
  ledger: Ledger;
  notice(notice: StreamNotice, at: number): void;
  /** `isWhole`: the recording has all traffic, so it gets a summary. */
  close(isWhole: boolean): Promise<void>;
}

async function startSession(
  { folderOf, baseUrl, wsUrl, source, clock, device: presented, redact }: StreamRecordingOptions,
  device: string,
  startedAt: number,
): Promise<RecordedSession> {
  const facts = { version, device, baseUrl, wsUrl, source };
  const recorder = await createRecorder({ ...facts, settleMs, folder: folderOf(device), clock, startedAt });
  const emit: EmitEvent = (body, at = clock.now()) => recorder.event({ t: roundMs(at - startedAt), ...body });
  const ledger = createLedger(
    { clock, settleMs, waitMs: 0, device, expectations: {}, startedAt },
    { emit, playback: () => ({ underruns: null, playbackDelayMs: null }), conversation: undefined, redact },
  );
  const broken: ExpectationVerdict[] = [];
  let isLive = presented !== undefined;
  emit({ type: 'session', ...facts, format: describeFormat(wireFormat).text }, startedAt);
  return {
    recorder,
    ledger,
    tap: joinTaps(
      recorder.tap,
      createSessionTap(ledger, (at) => {
        isLive = true;
        emit({ type: 'state', state: 'live' }, at);
      }),
    ),
    notice({ broken: verdict, ...warning }, at) {
      if (verdict !== undefined) broken.push(verdict);
      emit({ type: 'warning', ...warning }, at);
    },
    async close(isWhole) {
      ledger.sourceEnded();
      const ended = ledger.failure(isLive ? 'live' : 'authorising');
      const summary = ledger.summary(ended, broken, null);
      if (isWhole) emit({ type: 'summary', ...summary, ok: summary.ok && broken.length === 0 });
      await recorder.close();
    },
  };
}

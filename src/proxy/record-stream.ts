import { join } from 'node:path';
import { describeFormat, wireFormat } from '../audio/source-format.ts';
import type { Clock } from '../kernel/clock.ts';
import { toVoicectlError, VoicectlError } from '../kernel/errors.ts';
import { version } from '../kernel/version.ts';
import { createRecorder, type Recorder } from '../recording/recorder.ts';
import type { Judgement } from '../service/events.ts';
import { createEventQueue } from '../session/event-queue.ts';
import type { SessionEventBody } from '../session/events.ts';
import type { Verdict } from '../session/expectations.ts';
import { createLedger, type Ledger } from '../session/ledger.ts';
import { roundMs } from '../session/metrics.ts';
import { createSessionTap } from '../session/session-tap.ts';
import type { TokenExchange, Upgrade } from '../wire/exchange.ts';
import { joinTaps, type Tap } from '../wire/tap.ts';
import { requestedDevice, type TokenMatches } from './match-tokens.ts';

export interface RecordOptions {
  /** The folder that holds a folder for each stream. */
  folder: string;
  stream: number;
  baseUrl: string;
  wsUrl: string;
  clock: Clock;
  matches: TokenMatches;
  /** Called once if the recording cannot go on. The stream does. */
  onProblem(problem: VoicectlError): void;
}

/** Records one stream, as the device sees it: a session that `inspect` and `replay` read. */
export interface StreamRecording {
  tap: Tap;
  judged(judgement: Judgement): void;
  /** Completes the recording. */
  close(): Promise<void>;
}

/** Bytes that may pass while the disk takes nothing; beyond it the recording ends. */
const maxBehindBytes = 8 * 1024 * 1024;
const settleMs = 1_500;

interface Running {
  recorder: Recorder;
  tap: Tap;
  ledger: Ledger;
  finish(judgements: readonly Judgement[]): Promise<void>;
}

/** Begins when the token names the device, or at the end of a stream without one; what passed before is held until then. */
export function recordStream(options: RecordOptions): StreamRecording {
  const { clock, matches } = options;
  const held: ((running: Running) => void)[] = [];
  const judgements: Judgement[] = [];
  let upgrade: Upgrade | undefined;
  let starting: Promise<void> | undefined;
  let running: Running | undefined;
  let problem: VoicectlError | undefined;
  let behindBytes = 0;

  const fail = (thrown: unknown) => {
    if (problem !== undefined) return;
    problem = toVoicectlError(thrown);
    held.length = 0;
    options.onProblem(problem);
  };
  const begin = (device: string, exchange: TokenExchange | undefined) => {
    const startedAt = exchange?.at ?? upgrade?.at ?? clock.now();
    starting ??= start(options, { device, startedAt }).then((begun) => {
      running = begun;
      if (exchange !== undefined) begun.tap.token?.(exchange);
      for (const call of held.splice(0)) call(begun);
    }, fail);
  };
  const pass = (bytes: number, call: (to: Running) => void) => {
    if (problem !== undefined) return;
    behindBytes += bytes;
    if (behindBytes > maxBehindBytes) fail(new VoicectlError('input-output', 'The disk does not keep up'));
    else if (running === undefined) held.push(call);
    else call(running);
    if (running === undefined || behindBytes === 0) return;
    const passed = behindBytes;
    running.recorder.sink.write(noAudio).then(() => {
      behindBytes -= Math.min(passed, behindBytes);
    }, fail);
  };
  return {
    tap: {
      opened(told) {
        upgrade = told;
        pass(0, ({ tap }) => tap.opened?.(told));
      },
      message(message) {
        // The stream owns the buffer only until it is sent.
        pass(message.bytes, ({ tap }) => tap.message?.(message));
        if (!('token' in message)) return;
        const granted = matches.find(message.token.hash);
        const { sub } = message.token.claims ?? {};
        const named = typeof sub === 'string' ? sub : '';
        begin((granted && requestedDevice(granted)) ?? named, granted);
      },
      closed: (end) => pass(0, ({ tap }) => tap.closed?.(end)),
    },
    judged(judgement) {
      judgements.push(judgement);
      const { side, rule, message, value } = judgement;
      const text = `${side}: ${message}: ${value}`;
      pass(0, ({ ledger }) => ledger.emit({ type: 'warning', code: rule, message: text, side }));
    },
    async close() {
      begin('', undefined);
      await starting;
      await running?.finish(judgements).catch(fail);
    },
  };
}

const noAudio = Buffer.alloc(0);

/** Turns what a tap is told into the events of a session, and writes both. */
async function start(
  { folder, stream, baseUrl, wsUrl, clock }: RecordOptions,
  { device, startedAt }: { device: string; startedAt: number },
): Promise<Running> {
  const source = 'proxy';
  const facts = { version, device, baseUrl, wsUrl, source, settleMs };
  const recorder = await createRecorder({
    ...facts,
    folder: join(folder, folderName(stream, device, clock)),
    clock,
    startedAt,
  });
  const events = createEventQueue({ onFull() {}, onDrained() {} });
  const emit = (body: SessionEventBody) => events.push({ t: roundMs(clock.now() - startedAt), ...body });
  const playback = () => ({ underruns: null, playbackDelayMs: null });
  const ledger = createLedger(
    { clock, settleMs, device, expectations: {} },
    { emit, playback, conversation: undefined },
  );
  emit({ type: 'session', version, device, baseUrl, wsUrl, source, format: describeFormat(wireFormat).text });
  const writing = (async () => {
    for await (const _event of recorder.watch(events.read()));
  })();
  writing.catch(() => {});
  return {
    recorder,
    ledger,
    tap: joinTaps(recorder.tap, createSessionTap(ledger)),
    async finish(judgements) {
      ledger.sourceEnded();
      const violations = judgements.filter(({ type }) => type === 'violation').map(verdictOf);
      const summary = ledger.summary(undefined, violations, null);
      emit({ type: 'summary', ...summary, ok: violations.length === 0 });
      events.end();
      await writing;
    },
  };
}

function verdictOf({ side, rule, message, value }: Judgement): Verdict {
  return { name: `${side} ${rule}`, ok: false, expected: message, measured: value };
}

/** `2026-11-21T14-38-48-972Z-1-lamp`: sorts by time, and is free of anything that a path could misread. */
function folderName(stream: number, device: string, clock: Clock): string {
  const at = new Date(clock.wall()).toISOString().replace(/[:.]/g, '-');
  const name = device.replace(/[^\w-]+/g, '_').slice(0, 60);
  return [at, stream, ...(name === '' ? [] : [name])].join('-');
}

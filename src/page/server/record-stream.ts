import { measureLevel } from '../../audio/level.ts';
import { closeCodeName } from '../../protocol/close-codes.ts';
import { isInterruption, readServiceMessage } from '../../protocol/messages.ts';
import { type BundleWriter, createBundle } from '../../recording/bundle-writer.ts';
import { type Manifest, schemaVersion } from '../../recording/format.ts';
import { createWireWriter } from '../../recording/wire-writer.ts';
import type { JournalEntry } from '../../service/state/journal.ts';
import { createMetrics, roundMs } from '../../session/metrics.ts';
import type { SessionSummary } from '../../session/summary.ts';
import type { StreamEnd } from '../../wire/exchange.ts';
import type { Tap } from '../../wire/tap.ts';

export interface StreamRecorder {
  tap: Tap;
  /** Takes an event of the stream. */
  event(entry: JournalEntry): void;
  /** Resolves when everything is written. Throws `input-output`. */
  close(): Promise<void>;
}

export interface StreamRecorderOptions extends Omit<Manifest, 'schema' | 'startedAt'> {
  folder: string;
  startedAtMs: number;
  /** Milliseconds since the recording began, of the machine's clock. */
  elapsedMs: () => number;
  /** The disk does not keep up, or is full. */
  onFailure: (thrown: unknown) => void;
}

/** Records a stream of the emulator into a folder, from the middle of it or from its start. Throws as `createBundle`. */
export async function recordStream(options: StreamRecorderOptions): Promise<StreamRecorder> {
  const { folder, startedAtMs, elapsedMs, onFailure, ...facts } = options;
  const startedAt = new Date(startedAtMs).toISOString();
  const writer = await createBundle(folder, { schema: schemaVersion, startedAt, ...facts });
  const { version, device, baseUrl, wsUrl, source } = facts;
  writer.event({ ...{ t: 0, type: 'session', version, device, baseUrl, wsUrl, source }, format: 's16le' });
  writer.event({ t: 0, type: 'state', state: 'live' });
  // The emulator's time may be moved; a recording has the time that its listener has.
  const timeOf = () => roundMs(elapsedMs());
  const wire = createWireWriter({ writer, device, timeOf });
  const metrics = createMetrics({
    settleMs: facts.settleMs,
    onGap: (ms) => writer.event({ t: timeOf(), type: 'gap', ms }),
  });
  const kinds: Record<string, number> = {};
  let end: StreamEnd | undefined;
  const keepUp = () => void writer.taken().catch(onFailure);
  return {
    tap: {
      ...wire,
      message(message) {
        const t = timeOf();
        wire.message(message);
        if ('data' in message && message.from === 'device') metrics.sent(message.data, t);
        else if ('data' in message) metrics.received(message.bytes, measureLevel(message.data), t);
        else if ('text' in message && message.from === 'service') {
          const read = readServiceMessage(message.text);
          if (isInterruption(read)) metrics.interrupted(t);
          const kind = read.kind ?? '(none)';
          kinds[kind] = (kinds[kind] ?? 0) + 1;
          writer.event({ t, type: 'message', category: read.category, kind: read.kind, body: read.body });
        }
        keepUp();
      },
      closed(told) {
        end = told;
        wire.closed(told);
      },
    },
    event: (entry) => noteEvent(writer, timeOf(), entry),
    close() {
      metrics.finishSpeech();
      const summary: SessionSummary = {
        ...{ device, ok: true, elapsedMs: timeOf(), tokenMs: null, connectMs: null, authoriseMs: null },
        ...metrics.snapshot(),
        ...{ underruns: null, events: kinds, rateLimit: null, verdicts: [], failure: null },
        close:
          end === undefined ? null : { code: end.code, reason: end.reason, name: closeCodeName(end.code) },
      };
      return writer.close(elapsedMs(), summary);
    },
  };
}

/** What the emulator noticed of the stream, as a session tells it. */
function noteEvent(writer: BundleWriter, t: number, entry: JournalEntry): void {
  switch (entry.type) {
    case 'turn-started':
      writer.event({ t, type: 'speech', state: 'start', audioMs: entry.atMs });
      break;
    case 'turn-ended':
      writer.event({ t, type: 'speech', state: 'end', audioMs: entry.atMs });
      break;
    case 'device-finding':
      writer.event({ t, type: 'warning', code: entry.finding, message: entry.remark });
      break;
    case 'fault-struck':
      writer.event({ t, type: 'warning', code: entry.fault, message: `fault ${entry.fault}` });
      break;
    case 'violation':
    case 'remark': {
      const message = `${entry.side}: ${entry.message}: ${entry.value}`;
      writer.event({ t, type: 'warning', code: entry.rule, message, side: entry.side });
      break;
    }
    case 'reply-failed':
      writer.event({ t, type: 'warning', code: entry.type, message: entry.why });
      break;
    case 'stream-closed':
      writer.event({
        t,
        type: 'close',
        code: entry.code,
        reason: entry.reason,
        name: closeCodeName(entry.code),
      });
  }
}

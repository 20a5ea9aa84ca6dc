import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { VoiceCheck } from '../../audio/verdict/voice-check.ts';
import type { Clock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { closeCodes, isSendableCloseCode, maxCloseReasonBytes } from '../../protocol/close-codes.ts';
import type { TemplateValues } from '../../protocol/dialect/templates.ts';
import type { StreamTotals } from '../events.ts';
import type { Random } from '../random.ts';

/** An open stream, of an emulator or through a proxy, as faults and the control API act on it. */
export interface OpenStream {
  readonly id: number;
  /** Address of the peer. */
  readonly remote: string;
  /** Values for the templates of its messages. */
  readonly values: TemplateValues;
  /** Counted so far; `durationMs`, `code` and `reason` once it has closed. */
  readonly totals: StreamTotals;
  /** How long it has been open, by the machine's clock: moving the emulator's clock does not change it. */
  durationMs(): number;
  /** Judges what the device sends. */
  readonly device: Pick<VoiceCheck, 'verdict'>;
  /** Level of the newest audio of each direction, in dBFS: from the device, and to it. */
  levels(): { inDbfs: number; outDbfs: number };
  sendText(text: string): void;
  /** Sends text unchanged, even if it is not a valid message. */
  sendRaw(text: string): void;
  /**
   * Closes with this code, without an error message; 1005 means no code, 1006 no close frame.
   * Only the first call counts. Throws `usage` if the code or the reason cannot be sent.
   */
  closeWith(
    code: number,
    reason: string,
    cause?: 'control' | 'fault' | 'reply' | 'protocol-error' | 'bug',
  ): void;
  /** Ends the connection without a close frame: with FIN, or with a reset. */
  cut(how: 'end' | 'reset'): void;
  /** Holds all output for this long, then sends it. Pauses the heartbeat meanwhile. */
  stall(ms: number): void;
  /** Reads nothing more. */
  stopReading(): void;
  /** Stops reading, sending and heartbeats; the connection stays until the peer ends it. */
  freeze(): void;
  /** Calls the listener once, when either side begins to close; at once if that has happened. */
  onEnding(call: () => void): void;
}

/** Throws `usage` if the code or the reason cannot be sent; 1005 and 1006 stand for no code and no close frame. */
export function checkClose(code: number, reason: string): void {
  const standsForNone = code === closeCodes.noStatus || code === closeCodes.abnormal;
  if (!standsForNone && !isSendableCloseCode(code))
    throw new VoicectlError('usage', `Close code ${code} cannot be sent`);
  if (Buffer.byteLength(reason) > maxCloseReasonBytes)
    throw new VoicectlError('usage', `A close reason can have at most ${maxCloseReasonBytes} bytes`);
}

/** A peer that has not read everything by then is cut anyway. */
const flushMs = 2_000;

/** Ends a connection without a close frame, after everything that was sent on it. */
export function endTransport(socket: WebSocket, transport: Socket, clock: Clock): void {
  const cut = clock.after(flushMs, () => socket.terminate(), { background: true });
  socket.once('close', cut.cancel);
  transport.destroySoon();
}

interface MessageValuesOptions {
  stream: number;
  totals: Pick<StreamTotals, 'device'>;
  random: Pick<Random, 'id'>;
  clock: Pick<Clock, 'wall'>;
}

/** Values for the templates of one stream's messages. A random value is drawn only if a template uses it. */
export function createMessageValues({ stream, totals, random, clock }: MessageValuesOptions): TemplateValues {
  let session: string | undefined;
  let sequence = 0;
  return {
    stream,
    uuid: random.id,
    get session() {
      session ??= random.id();
      return session;
    },
    nowMs: () => clock.wall(),
    get device() {
      return totals.device;
    },
    nextSequence() {
      sequence += 1;
      return sequence;
    },
  };
}

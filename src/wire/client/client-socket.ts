import { WebSocket } from 'ws';
import { VoicectlError } from '../../kernel/errors.ts';
import type { Breakdown } from '../exchange.ts';
import { maxMessageBytes, tooLongText } from './frames.ts';

/** Our limit; the specification has none. */
const maxWaitingPongs = 100;

/** Limits of a socket, for its options. */
export const socketLimits = { maxPayload: maxMessageBytes, maxPendingAutoPongs: maxWaitingPongs };

/** The socket of a client. Knows how this side ended it: ws tells only what the other side did. */
export class ClientSocket extends WebSocket {
  /** The code with which this side closed first: by itself, or because of what it received. */
  closedWith: number | undefined;
  /** Why it was ended because of what it received. */
  failure: VoicectlError | undefined;
  /** Called when either side closes, perhaps once for each of them. */
  onClosing: (() => void) | undefined;

  /** ws answers a close frame with its code and its reason; it closes because of a bad frame with a code alone. */
  override close(code?: number, reason?: string | Buffer): void {
    if (code !== undefined && reason === undefined && this.readyState === WebSocket.OPEN)
      this.closedWith ??= code;
    this.onClosing?.();
    super.close(code, reason);
  }

  /** ws calls it if too many answers to pings wait to be sent. */
  override terminate(): void {
    const text = `The stream was cut: more than ${maxWaitingPongs} pings from the service came at once, which is voicectl’s limit`;
    this.failure ??= new VoicectlError('stream-broken', text);
    this.cut();
  }

  /** Ends the connection without a close frame. */
  cut(): void {
    super.terminate();
  }
}

/** The error for what ws does not accept. */
export function receivedError(thrown: Error): VoicectlError {
  const text = isTooLong(thrown)
    ? tooLongText
    : `The service violated the WebSocket protocol: ${thrown.message}`;
  return new VoicectlError('protocol-violation', text, { cause: thrown });
}

/** What broke a stream, as its exchange has it: of a violation, only which one. A limit of ours is none. */
export function breakdownOf({ code, message, cause }: VoicectlError): Breakdown {
  if (code !== 'protocol-violation' || !(cause instanceof Error)) return { code, message };
  return isTooLong(cause) ? { code: 'stream-broken', message } : { code, message: cause.message };
}

function isTooLong(thrown: Error): boolean {
  return 'code' in thrown && thrown.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
}

import { type ErrorCode, VoicectlError } from '../../kernel/errors.ts';
import { concealUrl } from '../../kernel/secret-fields.ts';
import { closeCodes, closeText } from '../../protocol/close-codes.ts';
import type { ReadError } from '../../protocol/error-body.ts';
import type { ServiceMessage } from '../../protocol/messages.ts';
import type { HttpAnswer } from '../exchange.ts';

/**
 * What a refusal of the stream means. The specification does not show what happens to bad tokens, the code of the limit, and
 * the close codes. So any sign that services give counts.
 */

/** Signs of a limit of connections: anywhere, and in a code or a reason, which have few words. */
const limitWords =
  /too.?many|concurren|max.{0,4}(?:connection|stream|session)|(?:connection|stream|session).{0,20}limit|limit.{0,20}(?:connection|stream|session)/i;
const shortLimitWords = /limit/i;
/** An error that mentions none of these is about something else than the token. */
const tokenWords = /token|jwt|auth|expire|credential|signature|claim|forbidden|denied|permission|key\b/i;
/** Codes that mean a failure of the service, not of the token. */
const serviceSide: readonly number[] = [
  closeCodes.goingAway,
  closeCodes.protocolError,
  closeCodes.abnormal,
  closeCodes.messageTooBig,
  closeCodes.internalError,
  closeCodes.serviceRestart,
  closeCodes.tryAgainLater,
];

/** The error for an upgrade with an answer other than 101. Includes the text of its body. */
export function upgradeError(received: HttpAnswer, url: string, said: ReadError): VoicectlError {
  const { status } = received;
  const details = { status, serviceCode: said.code, serviceMessage: said.message, answer: received };
  const answer = [`status ${status}`, textOf(said)].filter((text) => text !== '').join(', ');
  if (status >= 300 && status < 400) {
    return new VoicectlError(
      'redirected',
      `${concealUrl(url)} redirects (${answer}), but a token never follows a redirect`,
      {
        hint: 'Give the final address with --ws-url.',
        details,
      },
    );
  }
  if (status === 401 || status === 403) {
    return new VoicectlError('stream-refused', `The stream was refused (${answer})`, { details });
  }
  if (status === 429) {
    const text = `The stream was refused (${answer}): too many connections`;
    return new VoicectlError('too-many-connections', text, { details });
  }
  return new VoicectlError('handshake-failed', `${concealUrl(url)} did not open a WebSocket (${answer})`, {
    hint: 'Check --ws-url; by default, the host of --base-url is used.',
    details,
  });
}

/** The service's text about an error, in one line; empty if there is none. */
function textOf(error: ReadError | undefined): string {
  return [error?.code, error?.message].filter((text) => text !== undefined).join(': ');
}

/** How a stream ended. */
export interface StreamClose {
  code: number;
  reason: string;
}

/**
 * The error for a close that we did not request, before or after the token was accepted. `serviceError` is the error
 * message that the service sent just before it.
 */
export function closeError(
  { code, reason }: StreamClose,
  serviceError: ReadError | undefined,
  phase: 'authorising' | 'live',
): VoicectlError {
  // Many services give one text twice: as the reason and in the error before it.
  const isRepeated = reason !== '' && serviceError?.message === reason;
  const said = isRepeated ? (serviceError.code ?? '') : textOf(serviceError);
  const why = [`close ${closeText({ code, reason })}`, said].filter((text) => text !== '').join(', ');
  const details = {
    closeCode: code,
    closeReason: reason,
    serviceCode: serviceError?.code,
    serviceMessage: serviceError?.message,
  };
  const [errorCode, text] = classify({ code, reason }, serviceError, phase);
  return new VoicectlError(errorCode, `${text}: ${why}`, { details });
}

/** What the service of one stream said about errors: it explains why the stream ended, or was not confirmed. */
export class ServiceErrors {
  /** The last message of the service, if it was an error. */
  #lastWord: ReadError | undefined;
  /** The last error that it sent, whatever followed. */
  #lastError: ReadError | undefined;

  /** A text message of the service arrived. */
  heard({ error }: Pick<ServiceMessage, 'error'>): void {
    this.#lastWord = error;
    this.#lastError = error ?? this.#lastError;
  }

  /** AI audio arrived: an error before it did not end the stream. */
  heardAudio(): void {
    this.#lastWord = undefined;
  }

  /** The error for the end of the stream, before or after it was confirmed. */
  endError(close: StreamClose, phase: 'authorising' | 'live' = 'live'): VoicectlError | undefined {
    return streamEndError(close, this.#lastWord, phase);
  }

  /** The error for a stream that was not confirmed in time. `late`: the sentence about the time. */
  unconfirmedError(late: string): VoicectlError {
    return unconfirmedError(this.#lastError, late);
  }
}

/**
 * The error for the end of a stream; undefined if it was live, and the service ended it normally, and not after an error.
 * `lastWord`: the last message of the service, if it was an error.
 */
function streamEndError(
  close: StreamClose,
  lastWord: ReadError | undefined,
  phase: 'authorising' | 'live',
): VoicectlError | undefined {
  const isPlainEnd = close.code === closeCodes.normal || close.code === closeCodes.noStatus;
  return isPlainEnd && lastWord === undefined && phase === 'live'
    ? undefined
    : closeError(close, lastWord, phase);
}

/**
 * The error for a stream that was not confirmed in time, but is still open. `said`: the error message that the service sent
 * instead, which refuses the token; `late`: the sentence about the time.
 */
function unconfirmedError(said: ReadError | undefined, late: string): VoicectlError {
  if (said === undefined) return new VoicectlError('timed-out', late);
  const [code, text] = classify({ code: closeCodes.noStatus, reason: '' }, said, 'authorising');
  const why = [text, textOf(said)].filter((one) => one !== '').join(': ');
  const details = { serviceCode: said.code, serviceMessage: said.message };
  return new VoicectlError(code, `${why}. ${late}`, { details });
}

function classify(
  { code, reason }: StreamClose,
  said: ReadError | undefined,
  phase: 'authorising' | 'live',
): [ErrorCode, string] {
  if (phase === 'live') {
    if (said !== undefined && code !== closeCodes.abnormal)
      return ['service-error', 'The service ended the stream'];
    return ['stream-broken', 'The stream broke'];
  }
  const words = `${reason} ${textOf(said)}`;
  const isLimit = limitWords.test(words) || shortLimitWords.test(`${reason} ${said?.code ?? ''}`);
  if (code === closeCodes.tooManyConnections || isLimit)
    return ['too-many-connections', 'Too many connections for this device'];
  if (said === undefined && serviceSide.includes(code))
    return ['stream-broken', 'The stream broke before it was confirmed'];
  if (said !== undefined && !isRefusal(code) && !tokenWords.test(words))
    return ['service-error', 'The service reported an error before it confirmed the stream'];
  return ['stream-refused', 'The stream refused the token'];
}

/** Whether a service closes with this code because of what a client did. */
function isRefusal(code: number): boolean {
  return code === closeCodes.policyViolation || code >= 4000;
}

import type { VoicectlError } from '../../kernel/errors.ts';
import { createDeferred, withDeadline } from '../../kernel/promises.ts';
import { createRedactor, type Redactor } from '../../kernel/redact.ts';
import { createMessageReader, type ServiceMessage } from '../../protocol/messages.ts';
import { serviceUrl, streamPath } from '../../protocol/paths.ts';
import { concealTokens } from '../conceal.ts';
import { connect, cutSoonAfter } from './connect.ts';
import type { ClientLeg } from './http.ts';
import { createOutbox } from './outbox.ts';
import { ServiceErrors, type StreamClose } from './refusal-error.ts';

export interface VoiceStreamOptions extends Omit<ClientLeg, 'redactor'> {
  wsUrl: string;
  /** Removes keys and tokens from all reports. Default: a new one that learns the sent token. */
  redactor?: Redactor;
  /** Called for each message of AI audio: any number of bytes, also an odd one. */
  onAudio: (pcm: Buffer) => void;
  /** Called for each text message of the service. */
  onMessage: (message: ServiceMessage) => void;
}

export interface VoiceStream {
  /**
   * Sends the JWT as the first message and waits for `service_voice_connected`. Throws `VoicectlError`:
   * `stream-refused`, `too-many-connections`, `stream-broken`, `protocol-violation`, `timed-out`.
   */
  present(token: string): Promise<void>;
  /** Sends one binary message: 16 kHz s16le mono. */
  sendAudio(pcm: Buffer): void;
  /**
   * Resolves when at most `bytes` wait in the socket and the tap takes more. Throws `timed-out` if the peer takes
   * nothing for 10 s, and any error of the tap.
   */
  drained(bytes: number): Promise<void>;
  /** Pauses and resumes reading from the network, when the sinks are too slow for the audio. */
  pause(): void;
  resume(): void;
  /**
   * Closes with 1000, and waits at most 2 s for the peer's answer; once `hurry` is aborted, at most 1 s. Audio that is
   * still on its way is delivered, unless reading is paused: then it is dropped, so that the answer behind it can be read.
   */
  close(hurry?: AbortSignal): Promise<StreamClose>;
  /** Resolves when the stream has ended from either side. */
  readonly closed: Promise<StreamClose>;
  /** The error for a close that we did not request; undefined if the service ended the conversation normally. */
  breakage(close: StreamClose): VoicectlError | undefined;
}

const connectedTimeoutMs = 10_000;

/**
 * Opens the voice stream. Specification: "WSS /voice-stream". Throws `VoicectlError`: `connect-failed`,
 * `tls-failed`, `handshake-failed`, `redirected`, `stream-refused`, `too-many-connections`, `timed-out`, or the
 * signal's reason.
 */
export async function openVoiceStream(options: VoiceStreamOptions): Promise<VoiceStream> {
  const { wsUrl, ca, clock, signal, tap, redactor = createRedactor(), onAudio, onMessage } = options;
  const errors = new ServiceErrors();
  const readText = createMessageReader();
  let isClosing = false;
  let isDeaf = false;
  const confirmed = createDeferred();
  const connection = await connect({
    ...{ ca, clock, signal, tap, redactor },
    url: serviceUrl(wsUrl, streamPath),
    onBinary(pcm) {
      errors.heardAudio();
      if (!isDeaf) onAudio(pcm);
    },
    onText(text) {
      const message = readText(text);
      // An error may be printed.
      const shown = concealTokens(text);
      errors.heard(shown === text ? message : readText(shown));
      if (message.category === 'connected') confirmed.resolve();
      onMessage(message);
    },
  });
  const { reading } = connection;
  const closed = connection.closed.then(({ code, reason }): StreamClose => ({ code, reason }));
  const outbox = createOutbox(connection, { clock, tap });

  return {
    closed,
    breakage(close) {
      return connection.failure ?? errors.endError(close);
    },
    async present(token) {
      connection.present(token);
      const ended = closed.then((close) => {
        throw connection.failure ?? errors.endError(close, 'authorising');
      });
      // The stream may also end later, when nothing waits for this promise.
      ended.catch(() => {});
      const what = 'The service did not confirm the connection';
      await withDeadline(Promise.race([confirmed.promise, ended]), {
        clock,
        ms: connectedTimeoutMs,
        what,
        // It is waited for even after an error: a service may try again by itself.
        error: (late) => errors.unconfirmedError(late),
      });
    },
    sendAudio: (pcm) => connection.sendBinary(pcm, outbox.wake),
    drained: outbox.drained,
    pause() {
      if (isClosing) isDeaf = true;
      else reading.pause();
    },
    resume() {
      connection.beat();
      reading.resume();
    },
    close(hurry) {
      isClosing = true;
      isDeaf ||= reading.isPaused;
      reading.resume();
      void connection.close();
      if (hurry !== undefined) void cutSoonAfter(hurry, connection);
      return closed;
    },
  };
}

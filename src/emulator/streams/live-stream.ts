import { type BlockJoiner, createBlockJoiner } from '../../audio/blocks.ts';
import { recogniseText } from '../../audio/verdict/audio-as-text.ts';
import type { FoundInVoice } from '../../audio/verdict/found-sounds.ts';
import type { MessageArrival } from '../../audio/verdict/pace-check.ts';
import type { VoiceCheck } from '../../audio/verdict/voice-check.ts';
import type { Clock } from '../../kernel/clock.ts';
import { messageOf } from '../../kernel/errors.ts';
import { bytesForMs, bytesPerSample } from '../../protocol/audio-format.ts';
import type { TokenClaims } from '../../protocol/claims.ts';
import type { Dialect } from '../../protocol/dialect.ts';
import { writeError, writeStatus } from '../../protocol/messages.ts';
import { parseJson } from '../../protocol/parse-json.ts';
import type { EmulatorEvents, StreamTotals } from '../../service/events.ts';
import type { Faults } from '../../service/faults/faults.ts';
import { createFaultyAudio, type FaultyAudio } from '../../service/faults/faulty-audio.ts';
import { createLateStop } from '../../service/faults/late-stop.ts';
import { injectLiveFaults } from '../../service/faults/live-faults.ts';
import { playPcm } from '../../service/streams/playable.ts';
import { createSpeaker } from '../../service/streams/speaker.ts';
import type { Pulse } from '../../wire/pulse.ts';
import type { CreateReply, Reply, ReplyMode, Voice } from '../replies/reply.ts';
import type { ReceiveMessage } from './authorisation.ts';
import type { StreamConnection } from './connection.ts';

export interface LiveStream {
  /** Takes each message of the device. */
  receive: ReceiveMessage;
  /** What the control API may do on this stream. */
  voice: Voice;
  reply: Reply;
  claims: TokenClaims;
}

export interface LiveStreamOptions {
  connection: StreamConnection;
  claims: TokenClaims;
  /** The clock of the service, which can be moved forward: tokens expire by it. */
  clock: Clock;
  /** The clock of the machine: audio keeps its pace when the clock of the service is moved. */
  baseClock: Clock;
  pulse: Pulse;
  dialect: Dialect;
  events: EmulatorEvents;
  faults: Faults;
  createReply: ReplyMode;
  /** Called with what its paced audio threw: the stream cannot go on. */
  onThrown: (thrown: unknown) => void;
}

/** Maximum number of answers to audio sent as text that are reported as events. Later ones are sent without an event. */
const maxAudioTextsAnswered = 20;

/**
 * A stream that is confirmed, or that its reply confirms. It carries audio both ways. Specification: "WSS /voice-stream".
 */
export function startLiveStream(options: LiveStreamOptions): LiveStream {
  const { connection, claims, clock, dialect, events } = options;
  const subject = { device: claims.sub, stream: connection.id };
  const { reply, voice, userAudio } = startReply(options);
  const incoming = new IncomingAudio({ ...options, device: claims.sub, reply, userAudio });
  if (dialect.stream.expiryDuringStream === 'close') {
    const expiry = clock.after(claims.exp * 1000 - clock.wall(), () => connection.close('sessionExpired'));
    connection.onEnding(expiry.cancel);
  }
  connection.onEnding(() => incoming.end());
  connection.onEnding(() => reply.close?.());
  injectLiveFaults(options, subject);

  let recognised = 0;
  /** False if there are so many texts that this one is only counted. */
  const emitText = (data: Buffer): boolean => {
    if (!incoming.judgeText(data.toString()))
      return events.emit({ type: 'text-received', ...subject, bytes: data.length });
    // Audio sent as text is a finding, which is reported once.
    recognised += 1;
    return recognised <= maxAudioTextsAnswered;
  };
  const receive: ReceiveMessage = (data, isBinary, arrival) => {
    if (isBinary) {
      incoming.push(data, arrival);
      return;
    }
    const isAnswered = emitText(data);
    const { code, message } = dialect.stream.closes.unexpectedText;
    if (dialect.stream.textAfterToken === 'close') connection.close('unexpectedText');
    if (dialect.stream.textAfterToken !== 'error') return;
    const error = writeError(dialect, code, message, connection.values);
    // In a flood the answer has no event either.
    if (isAnswered) connection.sendText(error);
    else connection.sendRaw(error);
  };
  return {
    receive: limitTime(receive, { connection, clock, settings: dialect.stream }),
    voice,
    reply,
    claims,
  };
}

/** Makes the reply, and what it may do on this stream. */
function startReply(options: LiveStreamOptions): {
  reply: Reply;
  voice: Voice;
  userAudio: Pick<FaultyAudio, 'hear'>;
} {
  const { connection, claims, baseClock, pulse, dialect, events, faults, createReply, onThrown } = options;
  const at = { stream: connection.id, device: claims.sub };
  const audio = createFaultyAudio({
    ...{ faults, subject: at, clock: baseClock, out: connection.audio },
    taker: { endTurn: () => reply.endTurn?.() === true, say: (pcm) => voice.say(playPcm(pcm)) },
    shortestTurnMs: dialect.stream.shortestTurnMs,
  });
  connection.onEnding(audio.close);
  const speaker = createSpeaker({
    ...{ pulse, onThrown },
    frameBytes: bytesForMs(dialect.stream.replyFrameMs),
    send: audio.send,
    onEnd() {
      events.emit({ type: 'reply-ended', ...at, bargeIn: false });
      if (!speech.ended()) reply.said?.();
    },
  });
  const speech = createLateStop({
    speaker,
    clock: baseClock,
    delayMs: () => audio.yieldsAfterMs,
    say(playable) {
      if (!speaker.speaking) events.emit({ type: 'reply-started', ...at });
      speaker.say(playable);
    },
    onStopped: () => events.emit({ type: 'reply-ended', ...at, bargeIn: true }),
  });
  const sendError = (code: string, message: string) =>
    connection.sendText(writeError(dialect, code, message, connection.values));
  const voice: Voice = {
    ...at,
    clock: baseClock,
    shortestTurnMs: dialect.stream.shortestTurnMs,
    get speaking() {
      return speaker.speaking;
    },
    send: audio.send,
    say(playable) {
      // The stream has ended: drop a late reply.
      if (!connection.ended) speech.say(playable);
    },
    stop: speech.stop,
    fail(why) {
      events.emit({ type: 'reply-failed', ...at, why });
      const { code, message } = dialect.stream.replyFailed;
      sendError(code, `${message}: ${why}`);
    },
    status(state) {
      if (dialect.stream.status.send) connection.sendText(writeStatus(dialect, state, connection.values));
    },
    error: sendError,
    message: (body) => connection.sendText(JSON.stringify(body)),
    text: (text) => (parseJson(text) !== undefined ? connection.sendText(text) : connection.sendRaw(text)),
    close: (code, reason) => connection.closeWith(code, reason, 'reply'),
    turnStarted: (atMs) => events.emit({ type: 'turn-started', ...at, atMs }),
    turnEnded: (atMs, turnMs, agoMs) => events.emit({ type: 'turn-ended', ...at, atMs, turnMs, agoMs }),
  };
  const reply = beginReply(createReply, voice);
  connection.onEnding(speech.close);
  return { reply, voice, userAudio: audio };
}

/** Reports a reply that fails to start like any other failure: its stream continues without it, others are not affected. */
function beginReply(createReply: CreateReply, voice: Voice): Reply {
  try {
    return createReply(voice);
  } catch (thrown) {
    voice.fail(messageOf(thrown));
    return { hear() {} };
  }
}

interface TimeLimitOptions {
  connection: Pick<StreamConnection, 'close' | 'onEnding'>;
  /** The clock of the service, which can be moved forward. */
  clock: Clock;
  settings: Pick<Dialect['stream'], 'idleTimeoutMs' | 'longestSessionMs'>;
}

/** Closes a stream that lasts too long or receives nothing for too long, if the dialect says so. */
function limitTime(receive: ReceiveMessage, options: TimeLimitOptions): ReceiveMessage {
  const { connection, clock, settings } = options;
  const { idleTimeoutMs, longestSessionMs } = settings;
  if (longestSessionMs !== undefined) {
    const end = clock.after(longestSessionMs, () => connection.close('sessionTooLong'));
    connection.onEnding(end.cancel);
  }
  return idleTimeoutMs === undefined ? receive : watchIdle(receive, idleTimeoutMs, options);
}

/** One timer for the whole stream: a message only sets a time. */
function watchIdle(
  receive: ReceiveMessage,
  idleTimeoutMs: number,
  { connection, clock }: TimeLimitOptions,
): ReceiveMessage {
  let lastAt = clock.now();
  const look = () => {
    const leftMs = lastAt + idleTimeoutMs - clock.now();
    if (leftMs <= 0) connection.close('idle');
    else timer = clock.after(leftMs, look);
  };
  let timer = clock.after(idleTimeoutMs, look);
  connection.onEnding(() => timer.cancel());
  return (data, isBinary, arrival) => {
    lastAt = clock.now();
    receive(data, isBinary, arrival);
  };
}

interface IncomingAudioOptions extends Pick<LiveStreamOptions, 'connection' | 'dialect' | 'events'> {
  device: string;
  /** Takes whole samples. */
  reply: Reply;
  /** Takes them too: faults act on what the user says. */
  userAudio: Pick<FaultyAudio, 'hear'>;
}

/**
 * Audio from a device: counts and judges its messages, and joins them to whole samples. Specification:
 * "WSS /voice-stream". A class, because every frame passes it: see ARCHITECTURE.md.
 */
class IncomingAudio {
  private readonly check: VoiceCheck;
  private readonly totals: StreamTotals;
  private readonly reply: Reply;
  private readonly userAudio: Pick<FaultyAudio, 'hear'>;
  /** Created at the first message that ends within a sample. Most devices send none. */
  private samples: BlockJoiner | undefined;
  private readonly options: IncomingAudioOptions;

  constructor(options: IncomingAudioOptions) {
    this.check = options.connection.device;
    this.totals = options.connection.totals;
    this.reply = options.reply;
    this.userAudio = options.userAudio;
    this.options = options;
  }

  push(message: Buffer, arrival?: MessageArrival): void {
    // Only what was held until the stream was confirmed has an arrival of its own.
    if (arrival !== undefined && message.length > 0)
      for (const found of this.check.addFinding('too-early')) this.emitFinding(found);
    for (const found of this.check.push(message, arrival)) this.emitFinding(found);
    if (this.check.isDue) this.emitVerdict();
    if (message.length === 0) {
      this.totals.emptyMessages += 1;
      return;
    }
    this.totals.framesIn += 1;
    this.totals.bytesIn += message.length;
    const isOdd = message.length % bytesPerSample !== 0;
    if (isOdd) this.totals.oddMessages += 1;
    if (isOdd || this.samples !== undefined) this.acceptOdd(message, isOdd);
    else this.hear(message);
  }

  private hear(pcm: Buffer): void {
    this.userAudio.hear(pcm);
    this.reply.hear(pcm);
  }

  /** Takes a message that ends within a sample, or follows such a message. The dialect says what happens to half a sample. */
  private acceptOdd(message: Buffer, isOdd: boolean): void {
    const { connection, dialect } = this.options;
    const { oddBytes } = dialect.stream;
    if (isOdd && oddBytes === 'close') {
      connection.close('oddBytes');
      return;
    }
    this.samples ??= createBlockJoiner();
    const whole = this.samples.push(message);
    if (oddBytes === 'drop') this.samples.clear();
    if (whole.length > 0) this.hear(whole);
  }

  /** The stream ends: judges what could not be judged before. */
  end(): void {
    for (const found of this.check.end()) this.emitFinding(found);
  }

  /** Takes a text message; true if it is audio sent as text. Reports this once. */
  judgeText(text: string): boolean {
    const kind = recogniseText(text);
    if (kind === undefined) return false;
    for (const found of this.check.addFinding(`${kind}-text`)) this.emitFinding(found);
    return true;
  }

  private emitVerdict(): void {
    const verdict = this.check.judgePace();
    const { connection, device, events } = this.options;
    if (verdict !== undefined)
      events.emit({ type: 'device-verdict', stream: connection.id, device, ...verdict });
  }

  private emitFinding(found: FoundInVoice): void {
    const { connection, device, events } = this.options;
    events.emit({ type: 'device-finding', stream: connection.id, device, ...found });
  }
}

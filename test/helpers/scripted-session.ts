import type { AudioSource } from '../../src/audio/source.ts';
import { VoicectlError } from '../../src/kernel/errors.ts';
import { createRedactor } from '../../src/kernel/redact.ts';
import { readServiceMessage } from '../../src/protocol/messages.ts';
import type { SessionEvent } from '../../src/session/events.ts';
import type { SessionOptions } from '../../src/session/options.ts';
import { runSession } from '../../src/session/session.ts';
import type { ServiceClient } from '../../src/wire/client/join-service.ts';
import type { VoiceStream, VoiceStreamOptions } from '../../src/wire/client/voice-stream.ts';
import type { Header, Side, WireMessage } from '../../src/wire/exchange.ts';
import { tokenFacts } from '../../src/wire/token-facts.ts';
import { type CountedClock, createCountedClock } from './counted-clock.ts';
import { grantedExchange, openedUpgrade } from './exchanges.ts';
import { framesOf, silence, speech } from './pcm.ts';

type Untimed = WireMessage extends infer Message
  ? Message extends WireMessage
    ? Omit<Message, 'at'>
    : never
  : never;

/** The service's side of a session without a network: what it heard, and what it does. */
export interface ScriptedService {
  readonly clock: CountedClock;
  /** What was presented. */
  readonly token: string | undefined;
  /** Audio that was sent to it, each message with the time since the confirmation. */
  readonly heard: { at: number; pcm: Buffer }[];
  /** How often reading rested and went on, and how the stream was closed. */
  readonly calls: string[];
  say(message: unknown): void;
  speak(...pcm: Buffer[]): void;
  /** Speaks in messages of 20 ms in real time. */
  speakInTime(pcm: Buffer): void;
  /** Does something this long after the confirmation. */
  at(ms: number, act: () => void): void;
  /** The process of the client does not run for so long, and no timer with it. */
  stop(ms: number): void;
  /** Closes; `breakage` is what the client makes of it. */
  close(code: number, reason?: string, breakage?: VoicectlError): void;
}

export interface Script {
  options?: Partial<Omit<SessionOptions, 'client' | 'clock'>>;
  /** Called once the token was confirmed. */
  onLive?: (service: ScriptedService) => void;
  onAudio?: (pcm: Buffer, service: ScriptedService) => void;
  /** In place of a confirmation. */
  refuse?: VoicectlError;
  requestToken?: ServiceClient['requestToken'];
  openVoiceStream?: (options: VoiceStreamOptions) => Promise<never>;
  /** In place of a socket that takes everything at once. */
  drained?: (service: ScriptedService) => Promise<void>;
  signal?: AbortSignal;
}

/** PCM as a source, in chunks of 100 ms. */
export function sourceOf(...pcm: Buffer[]): AudioSource {
  const all = Buffer.concat(pcm);
  return {
    description: {
      encoding: 'pcm',
      sampleRate: 16_000,
      channels: 1,
      bitsPerSample: 16,
      converted: false,
      text: '16,000 Hz, 16-bit, mono',
    },
    durationMs: all.length / 32,
    repeatable: true,
    async *read() {
      yield* framesOf(all, 100);
    },
  };
}

export function defaultOptions(): Omit<SessionOptions, 'client' | 'clock'> {
  return {
    version: '0.0.0',
    baseUrl: 'http://voice.test',
    wsUrl: 'ws://voice.test',
    device: 'device-1',
    auth: { apiKey: 'key-1', apiVersion: undefined, retries: 0 },
    source: sourceOf(),
    sourceName: 'a.wav',
    sinks: [],
    pace: 1,
    frameMs: 20,
    tailMs: undefined,
    waitMs: 10_000,
    settleMs: 1_500,
    loop: false,
    durationMs: undefined,
    maxBufferedBytes: 65_536,
    expectations: {},
  };
}

/** A session with a service that is a script, on a clock that the test moves. */
export function startSession(script: Script = {}) {
  const counted = createCountedClock();
  let isDue = false;
  let stoppedMs = 0;
  const clock: CountedClock = {
    ...counted,
    now: () => counted.now() + stoppedMs,
    get pending() {
      return counted.pending;
    },
    after: (delayMs, call, options) =>
      counted.after(
        delayMs,
        () => {
          isDue = true;
          call();
        },
        options,
      ),
  };
  const { service, client } = createService(script, clock, (ms) => (stoppedMs += ms));
  const events: SessionEvent[] = [];
  let outcome: 'running' | 'ok' | VoicectlError = 'running';
  const options: SessionOptions = { ...defaultOptions(), ...script.options, client, clock };
  const session = runSession(options, script.signal ?? new AbortController().signal);
  const ended = (async () => {
    try {
      for await (const event of session) events.push(event);
      outcome = 'ok';
    } catch (thrown) {
      outcome = thrown as VoicectlError;
    }
  })();
  const of = <Type extends SessionEvent['type']>(type: Type) =>
    events.filter((event) => event.type === type) as Extract<SessionEvent, { type: Type }>[];
  return {
    clock,
    service,
    events,
    of,
    get outcome() {
      return outcome;
    },
    get summary() {
      const summary = of('summary')[0];
      if (summary === undefined) throw new Error(`no summary after ${clock.now()} ms`);
      return summary;
    },
    /** Moves time on until the session has ended. */
    async finish(limitMs = 120_000) {
      // What happens at once happens before time moves.
      await new Promise(setImmediate);
      while (outcome === 'running' && clock.now() < limitMs) {
        isDue = false;
        clock.advance(5);
        // Where no timer came due there is nothing to settle.
        if (isDue) await new Promise(setImmediate);
      }
      if (outcome === 'running') throw new Error(`not ended after ${limitMs} ms`);
      await ended;
      return outcome;
    },
  };
}

/** Speaks from 2 to 4 s after the confirmation, in a room tone of −50 dBFS that never ends: it is audible, but no speech. */
export function speakInRoomTone(service: ScriptedService): void {
  const [tone, said] = [silence(100), speech(100)];
  for (let at = 0; at < tone.length; at += 2) tone.writeInt16LE(at % 4 === 0 ? 104 : -104, at);
  const speakOn = (at: number) => {
    service.speak(at >= 2_000 && at < 4_000 ? said : tone);
    service.at(at + 100, () => speakOn(at + 100));
  };
  speakOn(0);
}

/** More messages than any script hears. */
const mostHeard = 10_000;

function createService(script: Script, clock: CountedClock, stop: (ms: number) => void) {
  let handlers: VoiceStreamOptions | undefined;
  let token: string | undefined;
  let liveAt = 0;
  let breakage: VoicectlError | undefined;
  let isClosed = false;
  let endStream: (close: { code: number; reason: string }) => void = () => {};
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    endStream = resolve;
  });
  const tell = (message: Untimed) => handlers?.tap?.message?.({ at: clock.now(), ...message });
  let hasEnded = false;
  const end = (by: Side, code: number, reason: string) => {
    if (!hasEnded) handlers?.tap?.closed?.({ at: clock.now(), by, code, reason, breakdown: undefined });
    hasEnded = true;
    endStream({ code, reason });
  };
  const calls: string[] = [];
  const service: ScriptedService = {
    clock,
    get token() {
      return token;
    },
    heard: [],
    calls,
    say(message) {
      const text = typeof message === 'string' ? message : JSON.stringify(message);
      tell({ from: 'service', opcode: 'text', text, bytes: text.length });
      handlers?.onMessage(readServiceMessage(text));
    },
    speak(...pcm) {
      for (const data of pcm) {
        if (isClosed) return;
        tell({ from: 'service', opcode: 'binary', data, bytes: data.length });
        handlers?.onAudio(data);
      }
    },
    speakInTime(pcm) {
      const begin = clock.now() - liveAt;
      for (const [index, frame] of framesOf(pcm).entries()) {
        service.at(begin + index * 20, () => service.speak(frame));
      }
    },
    stop,
    at: (ms, act) => void clock.after(liveAt + ms - clock.now(), act),
    close(code, reason = '', why) {
      isClosed = true;
      breakage = why;
      end('service', code, reason);
    },
  };
  const stream: VoiceStream = {
    closed,
    breakage: () => breakage,
    async present(presented) {
      token = presented;
      tell({
        from: 'device',
        opcode: 'text',
        token: tokenFacts(presented, createRedactor()),
        bytes: presented.length,
      });
      if (script.refuse !== undefined) throw script.refuse;
      service.say({ type: 'service_voice_connected' });
      liveAt = clock.now();
      script.onLive?.(service);
    },
    sendAudio(pcm) {
      // Without this, a session that sends without a pause would hang its test.
      if (service.heard.length >= mostHeard) throw new Error(`it sends more than ${mostHeard} messages`);
      service.heard.push({ at: clock.now() - liveAt, pcm });
      tell({ from: 'device', opcode: 'binary', data: pcm, bytes: pcm.length });
      script.onAudio?.(pcm, service);
    },
    drained: async () => script.drained?.(service),
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
    close() {
      calls.push('close');
      isClosed = true;
      end('device', 1000, '');
      return closed;
    },
  };
  const client: ServiceClient = {
    requestToken: script.requestToken ?? grantToken,
    async openVoiceStream(options) {
      if (script.openVoiceStream !== undefined) return script.openVoiceStream(options);
      handlers = options;
      options.tap?.opened?.(openedUpgrade(clock.now()));
      return stream;
    },
  };
  return { service, client };
}

const limitHeaders: readonly Header[] = [
  ['X-RateLimit-Limit', '60'],
  ['X-RateLimit-Remaining', '59'],
  ['X-RateLimit-Reset', '1970-01-01T00:01:00Z'],
];

/** Grants a token at the first attempt, and tells the tap so. */
export const grantToken: ServiceClient['requestToken'] = async ({ tap, clock }) => {
  tap?.token?.(grantedExchange({ at: clock.now(), headers: limitHeaders }));
  return {
    token: 't.o.k',
    status: 200,
    headers: {},
    rateLimit: { limit: 60, remaining: 59, resetAtMs: 60_000 },
    at: clock.now(),
    timing: { attempts: 1, firstByteMs: 3, totalMs: 5 },
  };
};

/** An error as the client would make it. */
export function failure(code: VoicectlError['code']): VoicectlError {
  return new VoicectlError(code, `It failed: ${code}`);
}

import type { Pace } from '../audio/pacer.ts';
import type { AudioSource } from '../audio/source.ts';
import type { TokenGrant, TokenOptions } from '../client/token.ts';
import type { VoiceStream, VoiceStreamOptions } from '../client/voice-stream.ts';
import type { Clock } from '../clock.ts';
import type { Expectations } from './expectations.ts';
import type { AudioSink } from './output.ts';

/** The half of the session that talks to the service. */
export interface SessionClient {
  requestToken(options: TokenOptions): Promise<TokenGrant>;
  openVoiceStream(options: VoiceStreamOptions): Promise<VoiceStream>;
}

/** How to come by a token: ask for it with a key, or use the one given. */
export type SessionAuth = Pick<TokenOptions, 'apiKey' | 'apiVersion' | 'retries'> | { token: string };

export interface SessionOptions {
  client: SessionClient;
  clock: Clock;
  version: string;
  baseUrl: string;
  wsUrl: string;
  device: string;
  auth: SessionAuth;
  source: AudioSource;
  /** What the source is, for people: a path, or "microphone". */
  sourceName: string;
  sinks: readonly AudioSink[];
  pace: Pace;
  frameMs: number;
  /** Silence after the last frame; undefined: until the reply has ended. */
  tailMs: number | undefined;
  /** How long to wait for a reply that has not begun. */
  waitMs: number;
  /** A reply that has paused this long has ended. */
  settleMs: number;
  loop: boolean;
  /** When it is aborted the source ends, as if there were no more of it: the reply is still heard. */
  enough?: AbortSignal;
  /** Stop after this much time of streaming. */
  durationMs: number | undefined;
  /** What may wait in the socket before the source is paused. */
  maxBufferedBytes: number;
  expectations: Expectations;
}

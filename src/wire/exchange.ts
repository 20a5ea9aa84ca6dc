import type { ErrorCode } from '../kernel/errors.ts';

/** What passed on the wire of one conversation with a service, as it was seen from one place: the evidence. */
export type Exchange = TokenExchange | StreamExchange;

/** Which end sent it. */
export type Side = 'device' | 'service';

/** Name and value of a header, as it stood on the wire: repeated ones are separate, in their order. */
export type Header = readonly [name: string, value: string];

/** What is kept of a token. The token itself never is. */
export interface TokenFacts {
  /** SHA-256 of the token, base64url: tells one token from another, and opens nothing. */
  hash: string;
  bytes: number;
  /** Unverified; undefined where the token is no JWT. */
  header: Record<string, unknown> | undefined;
  claims: Record<string, unknown> | undefined;
}

/** Why an exchange ended before its answer was whole. */
export interface Breakdown {
  code: ErrorCode;
  message: string;
}

export interface HttpRequest {
  method: string;
  url: string;
  headers: readonly Header[];
  /** As it was sent, without its secrets; empty where there was none. */
  body: string;
}

export interface HttpAnswer {
  status: number;
  headers: readonly Header[];
  /** As it came, without its secrets: a token in it is replaced. Cut at 64 KiB. */
  body: string;
  /** From the begin of the request to the first byte of the answer, milliseconds. */
  firstByteMs: number;
}

/** One HTTP request and its answer. Specification: "POST /api/websocket-voice/token". */
export interface TokenExchange {
  kind: 'token';
  /** When the request began: monotonic milliseconds of the clock that the leg was given. */
  at: number;
  /** The same moment on the wall clock, milliseconds since the epoch. */
  wallAt: number;
  request: HttpRequest;
  /** Undefined where no answer came. */
  answer: HttpAnswer | undefined;
  /** The token that the answer granted. */
  granted: TokenFacts | undefined;
  /** What kept the answer from coming, or from being whole. */
  breakdown: Breakdown | undefined;
  /** From the begin of the request to the end of the answer, milliseconds. */
  totalMs: number;
}

/** The upgrade of a stream, and how it was answered. */
export interface Upgrade {
  at: number;
  wallAt: number;
  request: HttpRequest;
  /** With status 101 the stream is open. */
  answer: HttpAnswer | undefined;
  breakdown: Breakdown | undefined;
  totalMs: number;
}

/** One message as it passed; `at` is monotonic milliseconds of the clock that the leg was given. */
export type WireMessage = { at: number; from: Side } & (
  | { opcode: 'text'; text: string; bytes: number }
  /** The token that was presented; it may have come in either kind of message. */
  | { opcode: 'text' | 'binary'; token: TokenFacts; bytes: number }
  /** The buffer stays as it is: it may be kept, and must not be changed. */
  | { opcode: 'binary'; data: Buffer; bytes: number }
  | { opcode: 'ping' | 'pong'; bytes: number }
);

/** How a stream ended. */
export interface StreamEnd {
  at: number;
  /** Which side closed it first; for a cut, which side was found gone. */
  by: Side;
  /** 1005: a close frame without a code; 1006: no close frame. */
  code: number;
  reason: string;
  /** What broke, where it was more than a close. */
  breakdown: Breakdown | undefined;
}

/** One WebSocket connection. Specification: "WSS /voice-stream". */
export interface StreamExchange {
  kind: 'stream';
  upgrade: Upgrade;
  messages: readonly WireMessage[];
  /** Undefined while it is open, and where it never was. */
  end: StreamEnd | undefined;
}

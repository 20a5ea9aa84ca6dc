import type { ErrorCode } from '../kernel/errors.ts';
import type { TokenProblem } from '../protocol/first-message.ts';

/** The evidence: the traffic of one conversation with a service, as seen from one side. */
export type Exchange = TokenExchange | StreamExchange;

/** Which end sent it. */
export type Side = 'device' | 'service';

/** Name and value of a header, as on the wire: repeated ones are separate, in order. */
export type Header = readonly [name: string, value: string];

/** The facts kept about a token. The token itself is never kept. */
export interface TokenFacts {
  /** SHA-256 of the token, base64url: identifies the token, and grants no access. */
  hash: string;
  bytes: number;
  /** Unverified; undefined if the token is not a JWT. */
  header: Record<string, unknown> | undefined;
  claims: Record<string, unknown> | undefined;
  /** Why a readable token is still not three base64url parts. */
  flaw?: string;
}

/** Why an exchange ended before its answer was complete. */
export interface Breakdown {
  code: ErrorCode;
  message: string;
}

export interface HttpRequest {
  method: string;
  url: string;
  headers: readonly Header[];
  /** The sent body without secrets; empty if there was none. */
  body: string;
}

export interface HttpAnswer {
  status: number;
  headers: readonly Header[];
  /** The received body without secrets: a token in it is replaced. Cut at 64 KiB. */
  body: string;
  /** From the beginning of the request to the first byte of the answer, milliseconds. */
  firstByteMs: number;
}

/** One HTTP request and its answer. */
export interface HttpExchange {
  /** When the request began: monotonic milliseconds of the leg's clock. */
  at: number;
  /** The same moment on the wall clock, milliseconds since the epoch. */
  wallAt: number;
  request: HttpRequest;
  /** Undefined if no answer arrived. */
  answer: HttpAnswer | undefined;
  /** Why the answer is missing or incomplete. */
  breakdown: Breakdown | undefined;
  /** From the beginning of the request to the end of the answer, milliseconds. */
  totalMs: number;
}

/** A token request and its answer. Specification: "POST /api/websocket-voice/token". */
export interface TokenExchange extends HttpExchange {
  kind: 'token';
  /** The file with the certificates that were trusted, as the user names it; undefined: the built-in authorities. */
  caFile?: string | undefined;
  /** The token that the answer granted. */
  granted: TokenFacts | undefined;
}

/** The upgrade of a stream, and its answer: with status 101 the stream is open. */
export interface Upgrade extends HttpExchange {
  /** Where the request contains a token, if it does; the specification puts none there. */
  tokenIn?: string;
}

/** The first message of a device. `problem`: what is wrong with its form. */
export interface PresentedToken {
  opcode: 'text' | 'binary';
  /** Facts of the token in it, if one is found; else of the whole message. */
  token: TokenFacts;
  bytes: number;
  problem?: TokenProblem;
}

/** One message; `at` is monotonic milliseconds of the leg's clock. `injected`: a proxy sent it, not the side in `from`. */
export type WireMessage = { at: number; from: Side; injected?: true } & (
  | { opcode: 'text'; text: string; bytes: number }
  /** The token that was sent, in either kind of message. */
  | PresentedToken
  /** The buffer is shared: you may keep it, but must not change it. */
  | { opcode: 'binary'; data: Buffer; bytes: number }
  | { opcode: 'ping' | 'pong'; bytes: number }
);

/** How a stream ended. */
export interface StreamEnd {
  /** When it was closed, in monotonic milliseconds of the leg's clock: the connection may stay open for a while. */
  at: number;
  /** Which side closed it first, or made the other one close it; for a cut connection, which side vanished. */
  by: Side;
  /** 1005: a close frame without a code; 1006: no close frame. */
  code: number;
  reason: string;
  /** How the other side answered the close, if not with the same code; 1006: it did not. */
  answer?: { code: number; reason: string };
  /** What broke, if it was more than a close, and which side’s fault that is. */
  breakdown: (Breakdown & { by: Side }) | undefined;
}

/** One WebSocket connection. Specification: "WSS /voice-stream". */
export interface StreamExchange {
  kind: 'stream';
  upgrade: Upgrade;
  messages: readonly WireMessage[];
  /** Undefined while it is open, and if it never was. */
  end: StreamEnd | undefined;
}

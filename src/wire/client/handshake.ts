import type { ClientRequest, IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { toVoicectlError, VoicectlError } from '../../kernel/errors.ts';
import { abortable, withDeadline } from '../../kernel/promises.ts';
import { readError } from '../../protocol/error-body.ts';
import { parseJson } from '../../protocol/parse-json.ts';
import { concealAnswer, concealRequest } from '../conceal.ts';
import type { Header, HttpAnswer, Upgrade } from '../exchange.ts';
import { headerPairs } from '../headers.ts';
import { readBody } from './body.ts';
import { connectionError } from './connection-error.ts';
import type { ClientLeg } from './http.ts';
import { upgradeError } from './refusal-error.ts';

const handshakeTimeoutMs = 10_000;

export interface HandshakeOptions extends Pick<ClientLeg, 'clock' | 'signal' | 'redactor'> {
  url: string;
  timeoutMs?: number | undefined;
  /** Called when the handshake is over, before any message. */
  onUpgrade?: ((upgrade: Upgrade) => void) | undefined;
}

/**
 * Waits until the socket is open, and cuts the connection if it does not open. Throws what `openVoiceStream` throws.
 */
export async function awaitUpgrade(socket: WebSocket, options: HandshakeOptions): Promise<void> {
  const { url, clock, signal, redactor, timeoutMs = handshakeTimeoutMs, onUpgrade } = options;
  const { host } = new URL(url);
  const [at, wallAt] = [clock.now(), clock.wall()];
  let answer: HttpAnswer | undefined;
  const keepAnswer = (response: IncomingMessage, body: string, firstByteMs: number) => {
    const raw = {
      status: response.statusCode ?? 0,
      headers: headerPairs(response.rawHeaders),
      body,
      firstByteMs,
    };
    answer = concealAnswer(raw, redactor);
    return answer;
  };
  let requestHeaders: Header[] = [];
  const report = (breakdown?: VoicectlError) =>
    onUpgrade?.({
      at,
      wallAt,
      request: concealRequest({ method: 'GET', url, headers: requestHeaders, body: '' }, redactor),
      answer,
      breakdown: breakdown && { code: breakdown.code, message: breakdown.message },
      totalMs: clock.now() - at,
    });
  const opened = new Promise<void>((resolve, reject) => {
    // ws has made the request, with all headers.
    if (onUpgrade !== undefined) requestHeaders = sentHeaders(socket);
    socket.once('upgrade', (response) => keepAnswer(response, '', clock.now() - at));
    socket.once('open', resolve);
    socket.once('error', (thrown) => reject(handshakeError(thrown, host)));
    socket.once('unexpected-response', async (_request, response: IncomingMessage) => {
      const firstByteMs = clock.now() - at;
      const { text } = await readBody(response, host);
      const refused = keepAnswer(response, text, firstByteMs);
      reject(upgradeError(refused, url, readError(parseJson(refused.body))));
    });
  });
  const what = `${host} did not answer the WebSocket handshake`;
  try {
    await withDeadline(abortable(opened, signal), { clock, ms: timeoutMs, what });
    report();
  } catch (thrown) {
    socket.terminate();
    const failure = redactor.thrown(thrown);
    if (!signal.aborted) report(toVoicectlError(failure));
    throw failure;
  }
}

/** What ws sends; it keeps the request while the handshake lasts. */
function sentHeaders(socket: WebSocket): Header[] {
  const { _req: request } = socket as unknown as { _req?: ClientRequest | null };
  return Object.entries(request?.getHeaders() ?? {}).map(([name, value]) => [name, String(value)]);
}

/** The error for a failed handshake: `connect-failed`, `tls-failed`, or `handshake-failed` for an invalid answer. */
export function handshakeError(thrown: Error, host: string): VoicectlError {
  const isSystem = ('code' in thrown && !String(thrown.code).startsWith('HPE_')) || 'errors' in thrown;
  if (isSystem) return connectionError(thrown, host);
  return new VoicectlError('handshake-failed', `WebSocket handshake with ${host} failed: ${thrown.message}`, {
    cause: thrown,
  });
}

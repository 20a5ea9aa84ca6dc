import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Clock } from '../../kernel/clock.ts';
import { createRedactor } from '../../kernel/redact.ts';
import type { SecretIndex } from '../../kernel/secret-index.ts';
import { shortText } from '../../kernel/short-text.ts';
import { controlPrefix, pagePath } from '../../protocol/control-paths.ts';
import type { RefusalCause } from '../../protocol/dialect.ts';
import { streamPath, tokenPaths } from '../../protocol/paths.ts';
import { rateLimitHeaderNames, retryAfterHeaderName } from '../../protocol/rate-limit.ts';
import { jsonMediaType, maxTokenRequestBytes } from '../../protocol/token-request.ts';
import type { SentHeaders } from '../../service/events.ts';
import { refuseRequest } from '../../service/http/refusal.ts';
import {
  type AdmittedRequest,
  allowedMethods,
  createServiceServer,
  type RequestOutcome,
  type RequestWatch,
  type ServiceServerOptions,
} from '../../service/http/service-server.ts';
import { concealAnswer, concealRequest, concealTokens } from '../../wire/conceal.ts';
import type { HttpAnswer as AnswerSeen } from '../../wire/exchange.ts';
import { headerPairs } from '../../wire/headers.ts';
import { answerHead, answerText, type OutgoingAnswer } from '../../wire/server/http-answer.ts';
import { readRequestBody, readTarget } from '../../wire/server/http-request.ts';
import type { Tap } from '../../wire/tap.ts';
import { tokenFacts } from '../../wire/token-facts.ts';
import type { VoiceEndpoint } from '../streams/voice-endpoint.ts';
import type { TokenEndpoint } from '../tokens/token-endpoint.ts';

export interface HttpServerOptions
  extends Pick<
    ServiceServerOptions,
    'dialect' | 'events' | 'tls' | 'admission' | 'control' | 'controlHosts' | 'faults' | 'isScraper'
  > {
  token: TokenEndpoint;
  voice: VoiceEndpoint;
  /** Whether there is a page under the control API. */
  hasPage: boolean;
  clock: Clock;
  /** The accepted keys: no tap gets them. */
  keys: Pick<SecretIndex, 'find'>;
  /** Gives a tap for each token request. */
  tap: (() => Tap | undefined) | undefined;
}

/** The HTTP side of the emulated service: its paths and methods. */
export function createHttpServer(options: HttpServerOptions): Server {
  const { voice, tap: createTap } = options;
  return createServiceServer({
    ...options,
    upgradePath: streamPath,
    watch(request) {
      const tap = createTap !== undefined && asksForToken(request) ? createTap() : undefined;
      return tap && watchTokenRequest(request, tap, options);
    },
    answer: (admitted, response) => answer(admitted, response, options),
    upgrade: ({ request }, socket, head) => voice.upgrade(request, socket, head),
  });
}

function asksForToken({ url = '' }: IncomingMessage): boolean {
  return tokenPaths.includes(readTarget(url)?.path ?? '');
}

/** RFC 9110, section 7.8: whoever names a protocol also says so in Connection. */
const upgradeHeaders: [string, string][] = [
  ['Upgrade', 'websocket'],
  ['Connection', 'Upgrade'],
];

async function answer(
  { request, path, origin, about, watch }: AdmittedRequest,
  response: ServerResponse,
  { token, hasPage, events }: HttpServerOptions,
): Promise<RequestOutcome> {
  if (origin !== undefined) allowOrigin(response, origin);
  const refuse = (cause: RefusalCause) => refuseRequest(cause, about);
  if (path === streamPath) return { ...refuse('upgradeRequired'), headers: upgradeHeaders, hangUp: true };
  if (path === '/' && (request.method === 'GET' || request.method === 'HEAD')) {
    const { welcomeAnswer } = await import('./welcome.ts');
    return welcomeAnswer(request.headers.accept, hasPage);
  }
  if (path === controlPrefix && request.method === 'GET' && hasPage)
    return { status: 308, body: '', headers: [['Location', pagePath]] };
  if (!tokenPaths.includes(path)) return { ...refuse('notFound'), hangUp: true };
  if (request.method === 'OPTIONS') {
    response.writeHead(204, allowedMethods.flat()).end();
    return 'answered';
  }
  const sent = sentHeaders(request, events);
  const refuseToken = (cause: RefusalCause) => refuseRequest(cause, { ...about, sent });
  if (request.method !== 'POST') {
    return { ...refuseToken('methodNotAllowed'), headers: allowedMethods, hangUp: true };
  }
  const mediaType = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (mediaType !== jsonMediaType) return { ...refuseToken('unsupportedMediaType'), hangUp: true };
  const body = await readRequestBody(request, maxTokenRequestBytes);
  if (body === undefined) return { ...refuseToken('bodyTooLarge'), hangUp: true };
  if (watch !== undefined) watch.body = Buffer.from(body).toString();
  return token.answer(body, about.remote ?? '', sent);
}

/** For the journal: short, because a device may send anything. */
function sentHeaders(
  { headers }: IncomingMessage,
  { redact }: Pick<HttpServerOptions['events'], 'redact'>,
): SentHeaders {
  const short = (text: string) => shortText(concealTokens(redact(text)));
  const { 'content-type': contentType, accept, 'user-agent': userAgent } = headers;
  return {
    ...(contentType === undefined ? {} : { contentType: short(contentType) }),
    ...(accept === undefined ? {} : { accept: short(accept) }),
    ...(userAgent === undefined ? {} : { userAgent: short(userAgent) }),
  };
}

/** Lets only the page that asked read the answer; never `*`. */
function allowOrigin(response: ServerResponse, origin: string): void {
  const exposed = [...Object.values(rateLimitHeaderNames), retryAfterHeaderName];
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Vary', 'Origin');
  response.setHeader('Access-Control-Allow-Methods', 'POST, OPTIONS');
  response.setHeader('Access-Control-Allow-Headers', 'Content-Type, Accept');
  response.setHeader('Access-Control-Expose-Headers', exposed.join(', '));
}

/** Passes a token request to a tap, as the service sees it, without key and token. */
function watchTokenRequest(
  request: IncomingMessage,
  tap: Tap,
  { clock, keys }: Pick<HttpServerOptions, 'clock' | 'keys'>,
): RequestWatch {
  const [at, wallAt] = [clock.now(), clock.wall()];
  const { method = '', url = '', rawHeaders } = request;
  const asked = { method, url, headers: headerPairs(rawHeaders) };
  return {
    body: '',
    answered(answer) {
      const totalMs = clock.now() - at;
      const token =
        typeof answer?.body === 'object' && 'token' in answer.body ? answer.body.token : undefined;
      const redactor = createRedactor(keys);
      if (token !== undefined) redactor.conceal(token);
      tap.token?.({
        kind: 'token',
        ...{ at, wallAt, totalMs },
        request: concealRequest({ ...asked, body: this.body }, redactor),
        answer: answer && concealAnswer(seenAnswer(answer, totalMs), redactor),
        granted: token === undefined ? undefined : tokenFacts(token, redactor),
        breakdown: undefined,
      });
    },
  };
}

function seenAnswer(answer: OutgoingAnswer, firstByteMs: number): AnswerSeen {
  const body = answerText(answer);
  return { status: answer.status, headers: headerPairs(answerHead(answer, body)), body, firstByteMs };
}

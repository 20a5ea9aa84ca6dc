import { isRecord, readError } from '../protocol/error-body.ts';
import { parseJson } from '../protocol/parse-json.ts';
import { tokenPath, tokenPaths } from '../protocol/paths.ts';
import type { HttpAnswer, TokenExchange, TokenFacts } from '../wire/exchange.ts';
import { dateOf, headerValue } from '../wire/headers.ts';
import { memoise } from './memo.ts';
import { type Seen, show } from './rule.ts';

/** Evidence of one kind of exchange. */
export type SeenToken = Seen & { exchange: TokenExchange };
export type SeenAnswer = SeenToken & { exchange: { answer: HttpAnswer } };
export type SeenGrant = SeenAnswer & { exchange: { granted: TokenFacts } };

/** HTTP requests, of any method and to any path. */
export function httpRequests(seen: readonly Seen[]): SeenToken[] {
  return seen.filter((one): one is SeenToken => one.exchange.kind === 'token');
}

/** Requests to the token endpoint. */
export function tokenRequests(seen: readonly Seen[]): SeenToken[] {
  return httpRequests(seen).filter(
    (one) => one.exchange.request.method === 'POST' && tokenPaths.some((path) => pathOf(one).endsWith(path)),
  );
}

/** Answers of the token endpoint. */
export function tokenAnswers(seen: readonly Seen[]): SeenAnswer[] {
  return tokenRequests(seen).filter((one): one is SeenAnswer => one.exchange.answer !== undefined);
}

/** Answers that granted a token. */
export function grantsSeen(seen: readonly Seen[]): SeenGrant[] {
  return tokenAnswers(seen).filter(isGranted);
}

/** Whether the request brought a token. */
export function isGranted(one: SeenToken): one is SeenGrant {
  return hasSucceeded(one) && one.exchange.granted !== undefined;
}

/** Answers to valid requests that should be granted. */
export function properAnswers(seen: readonly Seen[]): SeenAnswer[] {
  return tokenAnswers(seen).filter((one) => !one.provoked && isProper(one));
}

/** Whether a request is complete. The key may still be wrong. */
export function isProper(one: SeenToken): boolean {
  const fields = requestFields(one);
  return isFilled(fields?.apiKey) && isFilled(fields?.deviceId);
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/** The body of a token request; undefined if it is not a JSON object. */
export function requestFields({ exchange }: SeenToken): Record<string, unknown> | undefined {
  return readFields(exchange.request);
}

/** A proxy judges the same exchanges again and again: what is read from them is kept. */
const readFields = memoise(({ body }: TokenExchange['request']) => {
  const fields = parseJson(body);
  return isRecord(fields) ? fields : undefined;
});

export function deviceOf(one: SeenToken): unknown {
  return requestFields(one)?.deviceId;
}

/** The exchanges of each device, in their order. */
export function byDevice<One extends SeenToken>(all: readonly One[]): One[][] {
  const groups = new Map<unknown, One[]>();
  for (const one of [...all].sort((a, b) => a.exchange.at - b.exchange.at)) {
    const own = groups.get(deviceOf(one)) ?? [];
    groups.set(deviceOf(one), [...own, one]);
  }
  return [...groups.values()];
}

/** The path that was asked for. A service sees no host in the URL. */
export function pathOf({ exchange }: SeenToken): string {
  return readPath(exchange.request);
}

/** Whether the path with a version was asked for. */
export function isVersioned(one: SeenToken): boolean {
  return pathOf(one).endsWith(tokenPath('v1'));
}

const readPath = memoise(({ url }: TokenExchange['request']) => new URL(url, 'http://service').pathname);

export function hasSucceeded({ exchange: { answer } }: SeenToken): boolean {
  return answer !== undefined && answer.status >= 200 && answer.status < 300;
}

export function mediaTypeOf({ headers }: Pick<HttpAnswer, 'headers'>): string | undefined {
  return headerValue(headers, 'Content-Type')?.split(';')[0]?.trim().toLowerCase();
}

/** The error in an answer, read tolerantly: `details` may also be beside the code. `sent`: the code as it was sent. */
export function errorOf({ exchange: { answer } }: SeenAnswer) {
  const body = parseJson(answer.body);
  const inner = isRecord(body) && isRecord(body.error) ? body.error : body;
  const { details, code: sent } = isRecord(inner) ? inner : {};
  return { ...readError(body), details: details ?? undefined, sent };
}

const pageStart = /^\s*<(!doctype|html|head|body|\?xml)/i;
const gateways =
  /cloudflare|cloudfront|awselb|akamai|varnish|fastly|big-?ip|imperva|sucuri|bunny|vercel|envoy/i;

/** Whether the answer is an HTML page, from something in front of the service. */
export const isPage = memoise(
  (answer: HttpAnswer): boolean => /html|xml/.test(mediaTypeOf(answer) ?? '') || pageStart.test(answer.body),
);

/** Whether a gateway seems to have answered instead of the service. Granted tokens come from the service itself. */
export function isFromGateway(one: SeenAnswer, seen: readonly Seen[]): boolean {
  const { answer } = one.exchange;
  if (isPage(answer)) return true;
  const server = headerValue(answer.headers, 'Server');
  if (server === undefined || !gateways.test(server)) return false;
  return !grantsSeen(seen).some(({ exchange }) => headerValue(exchange.answer.headers, 'Server') === server);
}

/** Statuses of a path or method that a service does not have. */
export const notFoundStatuses: readonly number[] = [404, 405, 410, 501];

/** Whether a path is missing while another form of it works. Then its answers say nothing about other rules. */
export function isMissingPath(one: SeenAnswer, seen: readonly Seen[]): boolean {
  const granted = grantsSeen(seen);
  const hasOwn = granted.some((grant) => pathOf(grant) === pathOf(one));
  return notFoundStatuses.includes(one.exchange.answer.status) && granted.length > 0 && !hasOwn;
}

/** The service's time when it answered, milliseconds: from its own clock if that is known, else from `Date`. */
export function serviceTime({ exchange, serviceAt }: SeenAnswer): number | undefined {
  if (serviceAt !== undefined) return serviceAt + exchange.totalMs;
  return dateOf(exchange.answer.headers);
}

/** What the service says about a refusal: ` ("INVALID_REQUEST: no such device")`. */
export function saidText(refused: SeenAnswer): string {
  const { code, message } = errorOf(refused);
  const said = [code, message].filter((text) => text !== undefined).join(': ');
  return said === '' ? '' : ` (${show(said)})`;
}

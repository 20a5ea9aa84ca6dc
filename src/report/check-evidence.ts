import { cutText } from '../kernel/escape.ts';
import { redacted } from '../kernel/redact.ts';
import { shellText } from '../kernel/shell-text.ts';
import type { Finding, Rule, Seen } from '../rules/rule.ts';
import type {
  HttpAnswer,
  HttpRequest,
  StreamExchange,
  TokenExchange,
  WireMessage,
} from '../wire/exchange.ts';
import { curl } from './curl.ts';

/** More exchanges than these add nothing new. */
export const maxExchanges = 6;
const maxMessages = 40;
const maxTextLength = 2_000;

/** An exchange as JSON: what was sent, what was received, and how to repeat it. Of audio, only the size is given. */
export type EvidenceJson = ReturnType<typeof tokenEvidence> | ReturnType<typeof streamEvidence>;

export function evidenceJson(evidence: readonly Seen[]): EvidenceJson[] {
  return evidence.slice(0, maxExchanges).map((seen) => exchangeJson(seen));
}

/** What a pipeline gets of a verdict: the sentence that was judged, what was found, and the evidence. */
export function verdictJson({ rule, finding, evidence }: VerdictFacts) {
  const { verdict, message, evidence: exchanges } = finding;
  const { section, says } = rule;
  return { section, says, verdict, message, exchanges, evidence: evidenceJson(evidence) };
}

interface VerdictFacts {
  rule: Pick<Rule, 'section' | 'says'>;
  finding: Finding;
  evidence: readonly Seen[];
}

/** One exchange; `isWhole`: without any cuts. */
export function exchangeJson({ id, exchange }: Seen, isWhole = false): EvidenceJson {
  const most = isWhole
    ? { messages: Number.POSITIVE_INFINITY, text: Number.POSITIVE_INFINITY }
    : { messages: maxMessages, text: maxTextLength };
  return exchange.kind === 'token' ? tokenEvidence(id, exchange, most) : streamEvidence(id, exchange, most);
}

/** How much of an exchange is shown: messages of a stream, and characters of each text. */
interface Most {
  messages: number;
  text: number;
}

function tokenEvidence(id: string, exchange: TokenExchange, most: Most) {
  const { wallAt, request, answer, granted, breakdown, totalMs } = exchange;
  return {
    id,
    at: new Date(wallAt).toISOString(),
    request: requestJson(request, most),
    answer: answer === undefined ? null : answerJson(answer, most),
    token: granted === undefined ? null : { header: granted.header ?? null, claims: granted.claims ?? null },
    error: breakdown?.message ?? null,
    ms: Math.round(totalMs),
    again: curlLine(exchange),
  };
}

function streamEvidence(id: string, { upgrade, messages, end }: StreamExchange, most: Most) {
  return {
    id,
    at: new Date(upgrade.wallAt).toISOString(),
    request: requestJson(upgrade.request, most),
    answer: upgrade.answer === undefined ? null : answerJson(upgrade.answer, most),
    error: upgrade.breakdown?.message ?? end?.breakdown?.message ?? null,
    messages: messages.slice(0, most.messages).map((message) => messageJson(message, upgrade.at, most)),
    messageCount: messages.length,
    close: end === undefined ? null : { code: end.code, reason: end.reason, by: end.by },
  };
}

function requestJson({ method, url, headers, body }: HttpRequest, most: Most) {
  return { method, url, headers, body: cut(body, most) };
}

function answerJson({ status, headers, body }: HttpAnswer, most: Most) {
  return { status, headers, body: cut(body, most) };
}

function messageJson(message: WireMessage, startedAt: number, most: Most) {
  const common = { ms: Math.round(message.at - startedAt), from: message.from, opcode: message.opcode };
  if ('token' in message) return { ...common, bytes: message.bytes, token: message.token.hash };
  if ('text' in message) return { ...common, text: cut(message.text, most) };
  return { ...common, bytes: message.bytes };
}

function cut(text: string, most: Most): string {
  return text.length <= most.text ? text : `${cutText(text, most.text)}…`;
}

/** Nobody would type a command with a longer body. */
const maxCurlBody = 1_000;

/** The curl command that sends the same; the key is a variable. */
export function curlLine({ request, caFile }: Pick<TokenExchange, 'request' | 'caFile'>): string {
  const { method, url, headers, body } = request;
  const key = `'"$VOICECTL_API_KEY"'`;
  const parts = [
    `${curl(caFile === undefined ? undefined : { file: caFile })} -i -X ${method} '${shellText(url)}'`,
  ];
  for (const [name, value] of headers)
    if (value.length < maxCurlBody) parts.push(`-H '${shellText(`${name}: ${value}`)}'`);
  if (body !== '' && body.length < maxCurlBody)
    parts.push(`-d '${shellText(body).replaceAll(redacted, key)}'`);
  return parts.join(' ');
}

/** An exchange in a line, for people: `POST /api/websocket-voice/token answered 200 in 12 ms`. */
export function exchangeLine({ exchange }: Seen): string {
  if (exchange.kind === 'token') {
    const { request, answer, breakdown, totalMs } = exchange;
    const what = answer === undefined ? (breakdown?.message ?? 'no answer') : `answered ${answer.status}`;
    return `${request.method} ${pathOf(request)} ${what} in ${Math.round(totalMs)} ms`;
  }
  const { upgrade, messages, end } = exchange;
  if (upgrade.answer?.status !== 101)
    return `${pathOf(upgrade.request)} ${upgrade.breakdown?.message ?? `answered ${upgrade.answer?.status}`}`;
  const count = (opcode: WireMessage['opcode']) =>
    messages.filter((one) => one.from === 'service' && one.opcode === opcode).length;
  const close = end === undefined ? 'open' : `closed with ${end.code} by the ${end.by}`;
  return `${pathOf(upgrade.request)} ${count('text')} text, ${count('binary')} binary, ${close}`;
}

function pathOf({ url }: HttpRequest): string {
  return URL.canParse(url) ? new URL(url).pathname : url;
}

import type { AgainResult, AskedAgain } from '../conformance/again.ts';
import { escapeText, jsonText } from '../kernel/escape.ts';
import { closeCodeName } from '../protocol/close-codes.ts';
import { countText } from '../protocol/count-text.ts';
import { secondsText } from '../protocol/time-text.ts';
import type {
  HttpAnswer,
  HttpRequest,
  StreamExchange,
  TokenExchange,
  WireMessage,
} from '../wire/exchange.ts';
import { curlLine } from './check-evidence.ts';
import { foldNames } from './check-lines.ts';
import type { Style } from './style.ts';

export interface AgainLinesOptions {
  /** The exchange that was named. */
  id: string;
  /** Whether each exchange of a series is printed. */
  isDetailed: boolean;
  style: Style;
}

/** A step with more exchanges than this shows only those that were named or that show a verdict. */
const fewExchanges = 3;
const indent = '    ';

/** The exchanges of `--again`, complete: `>` is what was sent, `<` what was received. Keys and tokens are concealed. */
export function againLines(
  { exchanges, judged, leftOut }: Pick<AgainResult, 'exchanges' | 'judged' | 'leftOut'>,
  { id, isDetailed, style }: AgainLinesOptions,
): string[] {
  const wanted = new Set([id, ...(judged?.finding.evidence ?? [])]);
  const isShown = ({ seen, step }: AskedAgain) =>
    isDetailed ||
    wanted.has(seen.id) ||
    exchanges.filter((other) => other.step.id === step.id).length <= fewExchanges;
  const blocks: string[][] = [];
  let hidden: string[] = [];
  const fold = () => {
    if (hidden.length > 0)
      blocks.push([
        style.dim(
          `${foldNames(hidden).join(' ')}: ${countText(hidden.length, 'exchange')}, not shown without --verbose`,
        ),
      ]);
    hidden = [];
  };
  for (const one of exchanges) {
    if (!isShown(one)) hidden.push(one.seen.id);
    else {
      fold();
      blocks.push(exchangeLines(one, style));
    }
  }
  fold();
  for (const [step, why] of leftOut) blocks.push([escapeText(`${step}  not asked: ${why}`)]);
  return blocks.flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

function exchangeLines({ seen: { id, exchange }, step }: AskedAgain, style: Style): string[] {
  const lines = exchange.kind === 'token' ? tokenLines(exchange) : streamLines(exchange);
  return [style.strong(`${id}  ${step.title}`), ...lines.map((line) => `${indent}${line}`)];
}

function tokenLines(exchange: TokenExchange): string[] {
  const { request, answer, breakdown, granted, totalMs } = exchange;
  return [
    ...requestLines(request),
    ...answerLines(answer, totalMs),
    ...(breakdown === undefined ? [] : [escapeText(breakdown.message)]),
    ...(granted === undefined
      ? []
      : [
          `token header ${jsonText(granted.header ?? null)}`,
          `token claims ${jsonText(granted.claims ?? null)}`,
        ]),
    escapeText(curlLine(exchange)),
  ];
}

function streamLines({ upgrade, messages, end }: StreamExchange): string[] {
  const time = (at: number) => secondsText(at - upgrade.at, 3).padStart(9);
  const broken = end?.breakdown ?? upgrade.breakdown;
  return [
    ...requestLines(upgrade.request),
    ...answerLines(upgrade.answer, upgrade.totalMs),
    ...messageLines(messages, time),
    ...(end === undefined
      ? []
      : [
          `${time(end.at)}  ${signs[end.by]} close ${end.code} ${closeCodeName(end.code)}${reasonText(end.reason)}`,
        ]),
    ...(broken === undefined ? [] : [escapeText(broken.message)]),
  ];
}

function reasonText(reason: string): string {
  return reason === '' ? '' : ` ${jsonText(reason)}`;
}

function requestLines({ method, url, headers, body }: HttpRequest): string[] {
  return wireLines('>', [`${method} ${url}`, ...headers.map(headerText)], body);
}

function answerLines(answer: HttpAnswer | undefined, totalMs: number): string[] {
  if (answer === undefined) return [];
  const first = `${answer.status}, after ${Math.round(totalMs)} ms`;
  return wireLines('<', [first, ...answer.headers.map(headerText)], answer.body);
}

function headerText([name, value]: readonly [string, string]): string {
  return `${name}: ${value}`;
}

function wireLines(sign: string, head: readonly string[], body: string): string[] {
  const lines = body === '' ? head : [...head, '', ...body.split('\n')];
  return lines.map((line) => `${sign} ${escapeText(line)}`.trimEnd());
}

const signs = { device: '>', service: '<' } as const;

/** Audio between two other messages is one line for each side. */
function messageLines(messages: readonly WireMessage[], time: (at: number) => string): string[] {
  const lines: string[] = [];
  let audio: WireMessage[] = [];
  const flush = () => {
    for (const side of ['device', 'service'] as const) {
      const own = audio.filter(({ from }) => from === side);
      const [first] = own;
      if (first === undefined) continue;
      const until = own.at(-1)?.at ?? first.at;
      const bytes = own.reduce((sum, one) => sum + one.bytes, 0);
      const many = own.length === 1 ? '' : ` in ${own.length} messages, ${secondsText(until - first.at, 3)}`;
      lines.push(`${time(first.at)}  ${signs[side]} ${countText(bytes, 'byte')} of audio${many}`);
    }
    audio = [];
  };
  for (const message of messages) {
    if (message.opcode === 'binary' && !('token' in message)) {
      audio.push(message);
      continue;
    }
    flush();
    lines.push(`${time(message.at)}  ${signs[message.from]} ${messageText(message)}`);
  }
  flush();
  return lines;
}

function messageText(message: WireMessage): string {
  if ('token' in message) {
    const kind = message.opcode === 'text' ? 'text' : 'a binary message';
    return `the token, ${message.bytes} bytes of ${kind}`;
  }
  if ('text' in message) return escapeText(message.text);
  return `${message.opcode}, ${countText(message.bytes, 'byte')}`;
}

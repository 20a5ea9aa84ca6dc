import type { VoiceSummary } from '../audio/verdict/service-voice.ts';
import { escapeText } from '../kernel/escape.ts';
import { kindCountsText } from '../kernel/failure-kind.ts';
import { closeText } from '../protocol/close-codes.ts';
import { countText, percentText } from '../protocol/count-text.ts';
import { secondsText } from '../protocol/time-text.ts';
import type { MetricSpread, RepeatSummary, SpreadMetric, TurnTakingCounts } from '../runs/repeat.ts';
import type { AudioTotals, Spread } from '../session/metrics.ts';
import type { SessionSummary } from '../session/summary.ts';
import { dialogueRows } from './dialogue-lines.ts';
import type { Style } from './style.ts';
import { factLines } from './table-lines.ts';

/** The summary of a session as a short table. */
export function summaryLines(summary: SessionSummary, style: Style): string[] {
  const { close, rateLimit, verdicts, events } = summary;
  const rows: [string, string][] = [
    ['device', escapeText(summary.device)],
    ['sent', totalsText(summary.out)],
    ['received', `${totalsText(summary.in)} (${secondsText(summary.audibleMs)} audible)`],
    ['token', summaryMsText(summary.tokenMs)],
    ['connect', `${summaryMsText(summary.connectMs)}, confirmed ${summaryMsText(summary.authoriseMs)}`],
    ['first audio', `${summaryMsText(summary.firstAudioMs)} after the end of speech`],
    ['jitter', spreadText(summary.jitterMs)],
    ['longest gap', summaryMsText(summary.longestGapMs)],
    ['underruns', summary.underruns === null ? 'not played' : String(summary.underruns)],
    ...(summary.dialogue === undefined ? [] : dialogueRows(summary.dialogue)),
    ...voiceRows(summary),
    ['sent late', spreadText(summary.sendLatenessMs)],
    ['events', eventsText(events)],
    ...(summary.transcript ?? []).map(({ who, text }, index): [string, string] => [
      index === 0 ? 'transcript' : '',
      `${who === null ? '' : `${who}: `}${escapeText(text)}`,
    ]),
    [
      'rate limit',
      rateLimit === null ? '–' : `${rateLimit.remaining ?? '?'} of ${rateLimit.limit ?? '?'} left`,
    ],
    ['close', close === null ? '–' : escapeText(closeText(close))],
    ...verdicts.map((verdict) => expectationRow(verdict, style)),
    ['result', resultText(summary, style)],
  ];
  return factLines(rows, style);
}

/** `expect-audio` and `pass: expected any AI audio, measured 1000 ms`. */
export function expectationRow(
  { name, ok, skipped, expected, measured }: SessionSummary['verdicts'][number],
  style: Style,
  found: 'measured' | 'held in' = 'measured',
): [name: string, text: string] {
  const word = skipped ? 'skip' : ok ? style.good('pass') : style.bad('FAIL');
  return [escapeText(name), `${word}: expected ${escapeText(expected)}, ${found} ${escapeText(measured)}`];
}

/** `ok in 6.1 s`. A stream recorded by a proxy can fail without a failure, because a rule was broken. */
export function resultText(
  { ok, failure, elapsedMs }: Pick<SessionSummary, 'ok' | 'failure' | 'elapsedMs'>,
  style: Style,
): string {
  const why = failure === null ? '' : ` (${escapeText(failure.kind)})`;
  const result = ok ? style.good('ok') : style.bad(`failed${why}`);
  return `${result} in ${secondsText(elapsedMs, 1)}`;
}

/** The same for a voice alone: a WAV, or a recording without a summary. */
export function voiceLines(voice: VoiceSummary, style: Style): string[] {
  return voiceRows({ voice }).map(([name, text]) => `${style.dim(name.padEnd(voiceColumns))}${text}`);
}

const voiceColumns = 12;

function voiceRows({ voice }: Pick<SessionSummary, 'voice'>): [string, string][] {
  if (voice === undefined) return [];
  const texts = [
    ...measuresText(voice),
    ...voice.judgements.map(({ is, text, times }) => `${is}: ${text}${times > 1 ? `, ${times} times` : ''}`),
    ...(voice.unjudged === null ? [] : [`not judged: ${voice.unjudged}`]),
  ];
  return texts.map((text, index) => [index === 0 ? 'voice' : '', escapeText(text)]);
}

/** `speech -24.1 dBov, pauses -72 dBov, up to 7.5 kHz` */
function measuresText({ activeDbov, floorDbov, bandwidthHz }: VoiceSummary): string[] {
  const texts = [
    ...(activeDbov === null ? [] : [`speech ${activeDbov} dBov`]),
    ...(floorDbov === null ? [] : [`pauses ${floorDbov} dBov`]),
    ...(bandwidthHz === null ? [] : [`up to ${bandwidthHz / 1_000} kHz`]),
  ];
  return texts.length === 0 ? [] : [texts.join(', ')];
}

function totalsText({ frames, bytes, audioMs }: AudioTotals): string {
  return `${countText(frames, 'frame')}, ${countText(bytes, 'byte')}, ${secondsText(audioMs)}`;
}

export function summaryMsText(ms: number | null): string {
  return ms === null ? '–' : `${ms} ms`;
}

export function spreadText(spread: Spread | null): string {
  return spread === null ? '–' : `p50 ${spread.p50} ms, p95 ${spread.p95} ms, max ${spread.max} ms`;
}

function eventsText(events: Record<string, number>): string {
  const texts = Object.entries(events).map(([kind, count]) => `${escapeText(kind)} × ${count}`);
  return texts.length === 0 ? 'none' : texts.join(', ');
}

/** What is measured of several runs, as people read it. */
export const spreadNames: Record<SpreadMetric, string> = {
  elapsedMs: 'whole run',
  tokenMs: 'token',
  connectMs: 'connect',
  authoriseMs: 'confirmed',
  firstAudioMs: 'first audio',
  responseMs: 'response',
  yieldMs: 'yield',
  overlapMs: 'overlap',
  talkOverMs: 'talk-over',
  longestGapMs: 'longest gap',
  jitterP95Ms: 'jitter, p95',
  audioMs: 'AI audio',
  sendLatenessP95Ms: 'sent late, p95',
};

/** The result of several runs as a table. */
export function totalLines(summary: RepeatSummary, style: Style): string[] {
  const { device, runs, passed, passRate, warmup, failures, failure, verdicts } = summary;
  const warmups = warmup === 0 ? '' : `, after ${countText(warmup, 'warm-up run')}`;
  const rows: [string, string][] = [
    ['device', escapeText(device)],
    ['runs', `${passed} of ${runs} passed (${percentText(passRate, 1)})${warmups}`],
    ...(failure === null ? [] : [['failures', kindCountsText(failures)] satisfies [string, string]]),
    ...Object.entries(spreadNames).map(([name, shown]): [string, string] => [
      shown,
      metricSpreadText(summary.spread[name as SpreadMetric]),
    ]),
    ['turn-taking', turnTakingText(summary.turnTaking)],
    ...verdicts.map((verdict) => expectationRow(verdict, style, 'held in')),
    ['result', resultText(summary, style)],
  ];
  return factLines(rows, style);
}

const turnTakingNames: Record<keyof TurnTakingCounts, string> = {
  earlyReplies: 'early replies',
  neverYields: 'never yielded',
  endedByItself: 'ended by itself',
  falseInterruptions: 'false interruptions',
  answersNoise: 'answered noise',
  repliesLost: 'lost replies',
  unanswered: 'unanswered',
};

/** `early replies × 2, lost replies × 1`; leaves out what was not scripted. */
function turnTakingText(counts: TurnTakingCounts): string {
  const found = Object.entries(turnTakingNames).flatMap(([name, text]) => {
    const count = counts[name as keyof TurnTakingCounts];
    return count === null || count === 0 ? [] : [`${text} × ${count}`];
  });
  if (found.length > 0) return found.join(', ');
  return Object.values(counts).every((count) => count === null) ? '–' : 'nothing went wrong';
}

function metricSpreadText(spread: MetricSpread | null): string {
  if (spread === null) return '–';
  const { min, median, p95, max } = spread;
  return `min ${min} ms, median ${median} ms, p95 ${p95} ms, max ${max} ms`;
}

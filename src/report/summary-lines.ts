import { escapeText } from '../kernel/escape.ts';
import type { AudioTotals, Spread } from '../session/metrics.ts';
import type { SessionSummary } from '../session/summary.ts';
import type { Style } from './style.ts';

/** The summary of a session as a short table. */
export function summaryLines(summary: SessionSummary, style: Style): string[] {
  const { close, rateLimit, verdicts, events } = summary;
  const rows: [string, string][] = [
    ['device', escapeText(summary.device)],
    ['sent', totalsText(summary.out)],
    ['received', `${totalsText(summary.in)} (${(summary.audibleMs / 1000).toFixed(2)} s audible)`],
    ['token', msText(summary.tokenMs)],
    ['connect', `${msText(summary.connectMs)}, confirmed ${msText(summary.authoriseMs)}`],
    ['first audio', `${msText(summary.firstAudioMs)} after the end of speech`],
    ['jitter', spreadText(summary.jitterMs)],
    ['longest gap', msText(summary.longestGapMs)],
    ['under-runs', summary.underruns === null ? 'not played' : String(summary.underruns)],
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
    [
      'close',
      close === null
        ? '–'
        : `${close.code} ${escapeText(close.name)}${close.reason === '' ? '' : ` (${escapeText(close.reason)})`}`,
    ],
    ...verdicts.map(({ name, ok, skipped, expected, measured }): [string, string] => [
      escapeText(name),
      `${skipped ? 'skip' : ok ? style.good('pass') : style.bad('FAIL')}  expected ${escapeText(expected)}, measured ${escapeText(measured)}`,
    ]),
    ['result', `${resultText(summary, style)} in ${(summary.elapsedMs / 1000).toFixed(1)} s`],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${style.dim(name.padEnd(width))}  ${value}`);
}

function resultText({ failure }: SessionSummary, style: Style): string {
  return failure === null ? style.good('ok') : style.bad(`failed (${escapeText(failure.kind)})`);
}

function voiceRows({ voice }: SessionSummary): [string, string][] {
  if (voice === undefined) return [];
  const texts = voice.unjudged === null ? voice.remarks : [...voice.remarks, `not judged: ${voice.unjudged}`];
  return texts.map((text, index) => [index === 0 ? 'voice' : '', escapeText(text)]);
}

function totalsText({ frames, bytes, audioMs }: AudioTotals): string {
  return `${frames} frames, ${bytes} bytes, ${(audioMs / 1000).toFixed(2)} s`;
}

export function msText(ms: number | null): string {
  return ms === null ? '–' : `${ms} ms`;
}

export function spreadText(spread: Spread | null): string {
  return spread === null ? '–' : `p50 ${spread.p50} ms, p95 ${spread.p95} ms, max ${spread.max} ms`;
}

function eventsText(events: Record<string, number>): string {
  const texts = Object.entries(events).map(([kind, count]) => `${escapeText(kind)} × ${count}`);
  return texts.length === 0 ? 'none' : texts.join(', ');
}

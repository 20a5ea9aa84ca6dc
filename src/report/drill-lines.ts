import { drillRules, ruleOf } from '../conformance/drill/catalogue.ts';
import { type DrillResult, endedBefore } from '../conformance/drill/drill.ts';
import type { Drilled } from '../conformance/drill/run-situation.ts';
import type { Situation } from '../conformance/drill/situation.ts';
import { shellWord } from '../kernel/shell-text.ts';
import { version } from '../kernel/version.ts';
import { secondsText } from '../protocol/time-text.ts';
import type { Seen } from '../rules/rule.ts';
import type { Side } from '../wire/exchange.ts';
import { exchangeLine, verdictJson } from './check-evidence.ts';
import type { Style } from './style.ts';
import { countsText, markOf, stoppedLines, verdictWidth, wrapText } from './verdict-lines.ts';

const idWidth = 15;
const timeWidth = 9;
const indentWidth = idWidth + verdictWidth + timeWidth;
const indent = ' '.repeat(idWidth);
const shownExchanges = 4;
const mostLines = 12;

/** What repeats a drill. */
export interface DrillCommand {
  /** How it listened and whom it accepted, without the keys themselves. */
  flags: readonly string[];
  /** The command that is the device, without the keys themselves; empty if it connects by itself. */
  device: readonly string[];
}

/**
 * A situation: its verdict, how long it took, and what the device did; if that is wrong, also the evidence and how
 * to repeat it. `command`: the device, if the drill starts it.
 */
export function drilledLines(drilled: Drilled, command: DrillCommand, style: Style): string[] {
  const { id, title, finding, elapsedMs } = drilled;
  const { verdict, message } = finding;
  // It is only counted: after an interruption users want to see what was found.
  if (message === endedBefore) return [];
  const isFine = verdict === 'pass' || verdict === 'skipped';
  const mark = markOf(verdict, style)(verdict.padEnd(verdictWidth));
  const time = elapsedMs === 0 ? '' : secondsText(elapsedMs, 1);
  const [first = '', ...more] = wrapText(isFine ? message : title, indentWidth);
  const line = `${id.padEnd(idWidth)}${mark}${time.padStart(timeWidth - 2)}  ${first}`;
  const lines = [line.trimEnd(), ...more.map((text) => ' '.repeat(indentWidth) + text)];
  if (isFine) return lines;
  return [
    ...lines,
    ...wrapText(message, idWidth).map((text) => indent + text),
    ...proof(drilled, command).map((text) => indent + style.dim(text)),
  ];
}

/** What a firmware developer needs to find the mistake. Commands are not wrapped: they are copied. */
function proof(drilled: Drilled, command: DrillCommand): string[] {
  const { rule, finding } = drilled;
  return [
    ...(finding.verdict === 'fail' ? wrapText(`${rule.section}: ${rule.says}`, idWidth) : []),
    ...evidenceLines(drilled, shownExchanges).flatMap((line) => wrapText(line, idWidth)),
    `again: ${againLine(drilled, command)}`,
  ];
}

/** The exchanges with their times, and what a command printed. */
export function evidenceLines({ evidence, output }: Drilled, most: number): string[] {
  const startedAt = Math.min(...evidence.map(beginOf));
  const isStack = (line: string) => /^\s+at /.test(line);
  return [
    ...evidence
      .slice(0, most)
      .map((seen) => `${seen.id} at ${secondsText(beginOf(seen) - startedAt, 1)}: ${lineOf(seen)}`),
    ...output
      .filter((line) => !isStack(line))
      .slice(-most)
      .map((line) => `it printed: ${line.trim()}`),
  ];
}

function beginOf({ exchange }: Seen): number {
  return exchange.kind === 'token' ? exchange.at : exchange.upgrade.at;
}

/** An exchange as the service sees it. */
function lineOf(seen: Seen): string {
  const { exchange } = seen;
  if (exchange.kind === 'token') return exchangeLine(seen);
  const { upgrade, messages, end } = exchange;
  const count = (from: Side) =>
    messages.filter((message) => message.from === from && 'data' in message).length;
  const ended =
    end === undefined
      ? 'open'
      : `ended by the ${end.by} after ${secondsText(end.at - upgrade.at, 1)} with ${end.code}`;
  return `stream, ${count('device')} audio messages from device, ${count('service')} from service, ${ended}`;
}

/** Names a verdict among those of a drill: a rule may be broken in several situations. */
export function placeOf({ id, situation }: Pick<Drilled, 'id' | 'situation'>): string {
  return id === situation ? id : `${situation}-${id}`;
}

/** The command that repeats one situation. */
export function againLine(
  { situation }: Pick<Drilled, 'situation'>,
  { flags, device }: DrillCommand,
): string {
  const words = ['voicectl', 'drill', '--situation', situation, ...flags];
  return [...words, ...(device.length === 0 ? [] : ['--', ...device])].map(shellWord).join(' ');
}

/** The counts, and why the drill ended early. */
export function drillSummaryLines({ verdicts, elapsedMs, stopped }: DrillResult, style: Style): string[] {
  return ['', ...stoppedLines(stopped), `${countsText(verdicts, style)}, ${secondsText(elapsedMs, 1)}`];
}

/** The catalogue: each rule, and its situations below it. */
export function drillListLines(situations: readonly Situation[], style: Style): string[] {
  return drillRules.flatMap(({ id, title }) => {
    const own = situations.filter((one) => ruleOf(one.id).id === id);
    const rows = own.map((one) => {
      const needs = one.tls === undefined ? '' : ' (with --tls)';
      return `  ${one.id.padEnd(idWidth)}${one.title}${needs}`;
    });
    return own.length === 0 ? [] : [style.strong(`${id.padEnd(4)} ${title}`), ...rows];
  });
}

/** A situation in full, for a panel. */
export function drilledDetail(drilled: Drilled, command: DrillCommand): string[] {
  const { rule, finding } = drilled;
  return [
    ...wrapText(rule.says),
    ...wrapText(`(${rule.section})`),
    '',
    ...wrapText(`${finding.verdict}: ${finding.message}`),
    '',
    ...evidenceLines(drilled, mostLines).flatMap((line) => wrapText(line)),
    '',
    ...wrapText(`again: ${againLine(drilled, command)}`),
  ];
}

/** The verdict on one situation, as a line of JSON. `command`: the device, if the drill starts it. */
export function drilledObject(drilled: Drilled, command: DrillCommand) {
  const { id, situation, rule, title, finding, evidence, elapsedMs, output } = drilled;
  return {
    type: 'drill',
    id,
    situation,
    rule: rule.id,
    title,
    ...verdictJson({ rule, finding, evidence }),
    output,
    elapsedMs: Math.round(elapsedMs),
    again: againLine(drilled, command),
  };
}

/** The last line. */
export function drillSummaryObject({ verdicts, stopped, exitCode, elapsedMs }: DrillResult) {
  return {
    type: 'summary',
    version,
    verdicts,
    stopped: stopped === undefined ? null : { code: stopped.code, message: stopped.message },
    elapsedMs: Math.round(elapsedMs),
    exitCode,
  };
}

/** One situation of the catalogue. */
export function situationObject({ id, title, tls }: Situation) {
  const { id: rule, section, says } = ruleOf(id);
  return { type: 'situation', id, rule, title, section, says, needsTls: tls !== undefined };
}

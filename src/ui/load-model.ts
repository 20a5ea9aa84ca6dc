import type { LoadMetric } from '../config/threshold.ts';
import { escapeText } from '../kernel/escape.ts';
import { say } from '../report/event-words.ts';
import type { LiveLoad } from '../runs/load/live.ts';
import { appendRows, createBrowser, stillRunning, type Watched, withNotice } from './browser.ts';
import type { Notice, ScreenStart } from './port.ts';

/** What happens on the screen of a load run. */
export type LoadNews =
  /** `startsInMs`: until the first arrival; `longestMs`: from there until the last session has ended. */
  | { type: 'planned'; sessions: number; startsInMs: number; longestMs: number }
  /** A second has passed. */
  | { type: 'second'; live: LiveLoad }
  /** Something failed or was lost. */
  | { type: 'failure'; text: string }
  /** `reasons`: why the run is not valid, and which thresholds were crossed. */
  | { type: 'ended'; ok: boolean; text: string; reasons?: readonly string[] }
  /** Time has passed. */
  | { type: 'tick' }
  | Notice;

/** The state of the screen of a load run. Each failure has a row in the list. */
export interface LoadModel extends Watched {
  plan: { sessions: number; startsAt: number; longestMs: number };
  live: LiveLoad | undefined;
  history: RunHistory;
}

export function createLoadModel(start: ScreenStart): LoadModel {
  return {
    ...createBrowser(start),
    plan: { sessions: 0, startsAt: 0, longestMs: 0 },
    live: undefined,
    history: emptyHistory,
    ...stillRunning,
  };
}

export function reduceLoad(model: LoadModel, events: readonly LoadNews[]): LoadModel {
  return events.reduce<LoadModel>(reduceNews, model);
}

function reduceNews(model: LoadModel, news: LoadNews): LoadModel {
  switch (news.type) {
    case 'notice':
      return withNotice(model, news.text);
    case 'planned': {
      const { sessions, startsInMs, longestMs } = news;
      return { ...model, plan: { sessions, startsAt: model.now + startsInMs, longestMs } };
    }
    case 'second':
      return { ...model, live: news.live, history: addSecond(model.history, news.live) };
    case 'failure':
      return addLine(model, 'failure', news.text);
    case 'ended': {
      const next = (news.reasons ?? []).reduce((to, reason) => addLine(to, 'verdict', reason), model);
      return { ...next, ended: { ok: news.ok, text: news.text, at: model.now } };
    }
    case 'tick':
      return model;
  }
}

function addLine(model: LoadModel, kind: 'failure' | 'verdict', reason: string): LoadModel {
  const text = escapeText(reason);
  const t = Math.max(0, model.now - model.plan.startsAt);
  return appendRows(model, [
    {
      ...{ t, level: 'error', ...say('self', kind, text), event: { t, type: kind, text: reason } },
      full: { title: kind, lines: [text] },
    },
  ]);
}

/** The values that have a sparkline. */
export type HistoryName = LoadMetric | 'sent late' | 'open' | 'core';

/** The whole run in steps of equal length: the longer it is, the longer the steps. */
export interface RunHistory {
  /** Seconds in a step. */
  each: number;
  /** The highest value in each step; for times, the highest 95th percentile of a second, in milliseconds. */
  values: Partial<Record<HistoryName, readonly (number | undefined)[]>>;
}

/** Maximum number of steps that are kept; beyond that, every two become one. */
const maxSteps = 512;

const emptyHistory: RunHistory = { each: 1, values: {} };

/** Adds the last second of a run. */
function addSecond(history: RunHistory, { last, core }: Pick<LiveLoad, 'last' | 'core'>): RunHistory {
  const fitting = Math.floor(last.second / history.each) < maxSteps ? history : joinSteps(history);
  if (fitting !== history) return addSecond(fitting, { last, core });
  const times = Object.entries(last.times) as [LoadMetric, { p95: number }][];
  const seen: [HistoryName, number | null | undefined][] = [
    ...times.map(([metric, { p95 }]): [HistoryName, number] => [metric, p95]),
    ['open', last.open],
    ['sent late', last.late?.p95],
    ['core', core],
  ];
  const step = Math.floor(last.second / history.each);
  const values = { ...history.values };
  for (const [name, value] of seen) {
    if (typeof value !== 'number') continue;
    const steps = [...(values[name] ?? [])];
    steps[step] = Math.max(steps[step] ?? 0, value);
    values[name] = Array.from(steps);
  }
  return { ...history, values };
}

function joinSteps({ each, values }: RunHistory): RunHistory {
  const joined = Object.entries(values).map(([name, steps]) => [
    name,
    Array.from({ length: Math.ceil(steps.length / 2) }, (_, index) =>
      highest(steps.slice(2 * index, 2 * index + 2)),
    ),
  ]);
  return { each: each * 2, values: Object.fromEntries(joined) };
}

/** The values in at most this many columns. A column without a value is a gap. */
export function toColumns(
  values: readonly (number | undefined)[],
  columns: number,
): readonly (number | undefined)[] {
  const per = Math.ceil(values.length / Math.max(1, columns));
  if (per <= 1) return values;
  return Array.from({ length: Math.ceil(values.length / per) }, (_, index) =>
    highest(values.slice(index * per, (index + 1) * per)),
  );
}

function highest(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

import { escapeText } from '../kernel/escape.ts';
import { say } from '../report/event-words.ts';
import type { LiveLoad } from '../runs/load/live.ts';
import { append, createBrowser, stillRunning, type Watched, withNotice } from './browser.ts';
import type { Notice, ScreenStart } from './port.ts';
import { addSecond, emptyHistory, type RunHistory } from './run-history.ts';

/** What happens on the screen of a load run. */
export type LoadNews =
  /** `startsInMs`: until the first arrival; `longestMs`: from there until the last session has ended. */
  | { type: 'planned'; sessions: number; startsInMs: number; longestMs: number }
  /** A second has passed. */
  | { type: 'second'; live: LiveLoad }
  /** Something failed or was lost. */
  | { type: 'told'; text: string }
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
    case 'told':
      return addLine(model, 'failure', news.text);
    case 'ended': {
      const told = (news.reasons ?? []).reduce((to, reason) => addLine(to, 'verdict', reason), model);
      return { ...told, ended: { ok: news.ok, text: news.text, at: model.now } };
    }
    case 'tick':
      return model;
  }
}

function addLine(model: LoadModel, kind: 'failure' | 'verdict', told: string): LoadModel {
  const text = escapeText(told);
  const t = Math.max(0, model.now - model.plan.startsAt);
  return append(model, [
    {
      ...{ t, level: 'error', ...say('self', kind, text), event: { t, type: kind, text: told } },
      full: { title: kind, lines: [text] },
    },
  ]);
}

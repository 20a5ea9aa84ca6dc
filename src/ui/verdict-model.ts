import { escapeText } from '../kernel/escape.ts';
import { say } from '../report/event-words.ts';
import type { Verdict } from '../rules/rule.ts';
import { appendRows, createBrowser, stillRunning, type Watched, withNotice } from './browser.ts';
import type { Row } from './event-list.ts';
import type { Notice, ScreenStart } from './port.ts';

/** Something that gets a verdict: a rule of the specification, for example. */
export interface Item {
  id: string;
  title: string;
}

/** An item with its verdict, as soon as there is one. */
export interface JudgedItem extends Item {
  verdict?: Verdict;
  /** What was seen, in one sentence. */
  message: string;
  /** What to do about it, for places without room for the message. */
  advice?: string | undefined;
  /** False while a failed item waits for a second try. */
  isFinal: boolean;
}

/** How much of something is used up: requests, for example. */
export interface Amount {
  name: string;
  used: number;
  of: number;
}

/** What happens on a screen of verdicts. */
export type VerdictNews =
  /** The items, in their order. `what` names them: `rules`. */
  | { type: 'planned'; what: string; items: readonly Item[] }
  /** What is being done now, and how long it takes at most, in milliseconds. */
  | { type: 'doing'; text: string; forMs?: number }
  | { type: 'used'; amounts: readonly Amount[] }
  /** `lines`: the verdict and its evidence, for people and escaped; `body`: for machines. */
  | { type: 'judged'; item: JudgedItem; lines: readonly string[]; body: unknown }
  | { type: 'ended'; ok: boolean; text: string }
  /** Time has passed. */
  | { type: 'tick' }
  | Notice;

/** The state of a screen of verdicts: a list of items that fills up. */
export interface VerdictModel extends Watched {
  what: string;
  /** Each has a row in the list, with its index as ID. */
  items: readonly JudgedItem[];
  doing: { text: string; until: number | undefined };
  amounts: readonly Amount[];
}

export function createVerdictModel(start: ScreenStart): VerdictModel {
  return {
    ...createBrowser(start),
    what: '',
    items: [],
    doing: { text: 'starting', until: undefined },
    amounts: [],
    ...stillRunning,
  };
}

export function reduceVerdicts(model: VerdictModel, events: readonly VerdictNews[]): VerdictModel {
  return events.reduce<VerdictModel>(reduceNews, model);
}

function reduceNews(model: VerdictModel, news: VerdictNews): VerdictModel {
  switch (news.type) {
    case 'notice':
      return withNotice(model, news.text);
    case 'planned':
      return plan(model, news);
    case 'doing': {
      const until = news.forMs === undefined ? undefined : model.now + news.forMs;
      return { ...model, doing: { text: news.text, until } };
    }
    case 'used':
      return { ...model, amounts: news.amounts };
    case 'judged':
      return judge(model, news);
    case 'ended':
      return {
        ...model,
        ended: { ok: news.ok, text: news.text, at: model.now },
        list: { ...model.list, latest: worst(model) },
      };
    case 'tick':
      return model;
  }
}

function plan(model: VerdictModel, { what, items }: Extract<VerdictNews, { type: 'planned' }>): VerdictModel {
  const seen = items.map(({ id, title }): JudgedItem => ({ id, title, message: '', isFinal: false }));
  const planned = addItems({ ...model, what, items: [] }, seen);
  return { ...planned, list: { ...planned.list, latest: 0 } };
}

function addItems(model: VerdictModel, items: readonly JudgedItem[]): VerdictModel {
  return appendRows(
    { ...model, items: [...model.items, ...items] },
    items.map((item) => ({
      ...{ t: 0, level: 'info', event: item },
      ...say('self', 'waiting', textOf(item)),
    })),
  );
}

/** An item that was not planned is added: a drill finds broken rules beside those of its situations. */
function judge(known: VerdictModel, news: Extract<VerdictNews, { type: 'judged' }>): VerdictModel {
  const { lines, body } = news;
  const item = { ...news.item, message: escapeText(news.item.message) };
  const isKnown = known.items.some(({ id }) => id === item.id);
  const model = isKnown ? known : addItems(known, [item]);
  const index = model.items.findIndex(({ id }) => id === item.id);
  const before = model.list.rows[index];
  if (before === undefined) return model;
  const row: Row = {
    ...before,
    ...{ t: model.now, subject: item.verdict ?? 'waiting', text: textOf(item), event: body },
    full: { title: `${item.id}: ${item.title}`, lines },
  };
  return {
    ...model,
    items: model.items.with(index, item),
    list: { ...model.list, rows: model.list.rows.with(index, row), latest: index },
  };
}

/** The text that a filter searches. */
function textOf({ id, title, message }: JudgedItem): string {
  return `${id} ${title} ${message}`;
}

/** The item that is shown first when all items have their verdict. */
function worst({ items }: VerdictModel): number {
  const order: readonly (Verdict | undefined)[] = ['fail', 'warn', 'unknown'];
  const found = order.map((verdict) => items.findIndex((item) => item.verdict === verdict));
  return found.find((index) => index >= 0) ?? 0;
}

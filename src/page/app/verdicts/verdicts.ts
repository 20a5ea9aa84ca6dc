import { computed, signal } from '@preact/signals';
import { systemClock } from '../../../kernel/clock.ts';
import { moveTo } from '../../../ui/browser.ts';
import { moveMark, type Row, shownRows } from '../../../ui/event-list.ts';
import { createVerdictModel, reduceVerdicts, type VerdictModel } from '../../../ui/verdict-model.ts';
import type { VerdictMessage } from '../../messages.ts';
import { link } from '../live/link.ts';

type Start = Extract<VerdictMessage, { type: 'verdicts' }>;

/** What is being judged; undefined until the page hears from the run. */
export const start = signal<Start>();
/** The same model that the screen draws. */
export const model = signal<VerdictModel>(modelOf({ command: 'check', version: '', subject: '' }));
/** The rows that pass the filter. */
export const verdictRows = computed(() => shownRows(model.value.list));
/** Rows that show what was seen. */
export const openedVerdict = signal<ReadonlySet<number>>(new Set());
/** The last notice of the run, which is not a verdict. */
export const remark = signal('');

function modelOf({ command, version, subject }: Omit<Start, 'type'>): VerdictModel {
  return createVerdictModel({ screen: command, version, subject, ascii: false, can: ['copy'] });
}

/** Applies one message of the run. */
export function applyVerdicts(message: VerdictMessage): void {
  if (message.type === 'verdicts') {
    start.value = message;
    const { filter, marked } = model.peek().list;
    const fresh = modelOf(message);
    model.value = { ...fresh, list: { ...fresh.list, filter, marked } };
    link.value = 'live';
    return;
  }
  if (message.type === 'notice') remark.value = message.text;
  if (message.type === 'ended') link.value = 'stopped';
  const moment = { now: systemClock.now(), wall: systemClock.wall() };
  model.value = reduceVerdicts(moveTo(model.peek(), moment), [message]);
}

export const isOver = () => model.peek().ended !== undefined;

export function setVerdictFilter(filter: string): void {
  model.value = { ...model.value, list: { ...model.value.list, filter, marked: undefined } };
}

export function moveToVerdict(by: number): void {
  model.value = { ...model.value, list: moveMark(model.value.list, by) };
}

/** Marks a row, and shows or hides what was seen. */
export function toggleRow({ id }: Row): void {
  const next = new Set(openedVerdict.value);
  if (!next.delete(id)) next.add(id);
  openedVerdict.value = next;
  model.value = { ...model.value, list: { ...model.value.list, marked: id } };
}

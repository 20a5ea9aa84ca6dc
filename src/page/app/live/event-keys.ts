import { computed, signal } from '@preact/signals';
import { jsonLines } from '../../../kernel/escape.ts';
import { markedRow, moveMark, type Row, shownRows, toggleHold } from '../../../ui/event-list.ts';
import { copy } from './Notice.tsx';
import { list } from './store.ts';

/** The rows that pass the filter, up to where the list is paused. */
export const eventRows = computed(() => shownRows(list.value));
export const marked = computed(() => (list.value.marked === undefined ? undefined : markedRow(list.value)));
/** Whether the newest event stays in view. */
export const isFollowing = signal(true);
/** The event that is shown as JSON. */
export const detail = signal<Row>();

/** Moves the mark by this many rows. */
export function moveToEvent(by: number): void {
  list.value = moveMark(list.value, by);
  if (detail.value !== undefined) detail.value = marked.value;
}

export function mark(row: Row): void {
  list.value = { ...list.value, marked: row.id };
  detail.value = row;
}

export function toggleDetail(): void {
  detail.value = detail.value === undefined ? markedRow(list.value) : undefined;
}

export function copyJson(): void {
  const row = markedRow(list.value);
  if (row !== undefined) void copy(jsonLines(row.event), 'the event');
}

export function setEventFilter(filter: string): void {
  list.value = { ...list.value, filter, marked: undefined };
  isFollowing.value = true;
}

export function pressList(command: 'first' | 'follow' | 'pause' | 'back'): void {
  if (command === 'pause') list.value = toggleHold(list.value);
  if (command === 'first') list.value = { ...list.value, marked: eventRows.value[0]?.id };
  if (command === 'follow') {
    list.value = { ...list.value, marked: undefined };
    isFollowing.value = true;
  }
  if (command !== 'back') return;
  if (detail.value !== undefined) detail.value = undefined;
  else if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
  else setEventFilter('');
}

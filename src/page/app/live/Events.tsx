import { computed, signal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { jsonLines } from '../../../kernel/escape.ts';
import { originSigns, whoText } from '../../../report/event-words.ts';
import { heldCount, markedRow, moveMark, type Row, shownRows, toggleHold } from '../../../ui/event-list.ts';
import { filterExample } from '../../../ui/keys.ts';
import { tones } from '../../view-data.ts';
import { paintSoon } from '../picture/painting.ts';
import { copyText } from './Notice.tsx';
import { list } from './store.ts';

/** The rows that pass the filter, up to where the list is paused. */
const eventRows = computed(() => shownRows(list.value));
const marked = computed(() => (list.value.marked === undefined ? undefined : markedRow(list.value)));
/** Whether the newest event stays in view. */
const isFollowing = signal(true);
/** The event that is shown as JSON. */
export const detail = signal<Row>();

/** Moves the mark by this many rows. */
export function moveToEvent(by: number): void {
  list.value = moveMark(list.value, by);
  if (detail.value !== undefined) detail.value = marked.value;
}

function mark(row: Row): void {
  list.value = { ...list.value, marked: row.id };
  detail.value = row;
}

export function toggleDetail(): void {
  detail.value = detail.value === undefined ? markedRow(list.value) : undefined;
}

export function copyJson(): void {
  const row = markedRow(list.value);
  if (row !== undefined) void copyText(jsonLines(row.event), 'the event');
}

function setEventFilter(filter: string): void {
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

const rowPx = 24;
/** Below the end of any list. */
const farBelow = 1e7;
/** Rows that exist above and below the visible ones. */
const spare = 6;

/** Everything that happens, as a list. Only its visible part exists. */
export function Events() {
  return (
    <section class="panel events" aria-labelledby="events-title">
      <div class="title">
        <h2 id="events-title">
          Events <span class="count">{eventRows.value.length}</span>
        </h2>
        <label for="filter" class="hidden">
          Filter
        </label>
        <input
          id="filter"
          type="search"
          placeholder={`Filter: ${filterExample}`}
          value={list.value.filter}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setEventFilter(event.currentTarget.value)}
        />
        <Hold />
      </div>
      <Rows />
      <Detail />
    </section>
  );
}

function Hold() {
  const isHeld = list.value.heldAfter !== undefined;
  return (
    <button type="button" id="pause" aria-pressed={isHeld} onClick={() => pressList('pause')}>
      {isHeld ? `Continue (${heldCount(list.value)})` : 'Pause'}
    </button>
  );
}

function Rows() {
  const frame = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  /** The last position: a smaller one means that somebody scrolled back. */
  const lastTop = useRef(0);
  const height = useSignal(300);
  const markedId = useComputed(() => list.value.marked);
  const all = eventRows.value;
  const lowest = Math.max(0, all.length * rowPx - height.value);
  const first = Math.max(0, Math.floor((isFollowing.value ? lowest : top.value) / rowPx) - spare);
  const count = Math.ceil(height.value / rowPx) + 2 * spare;

  useEffect(() => {
    if (frame.current === null) return;
    const resized = new ResizeObserver(([entry]) => {
      height.value = entry?.contentRect.height ?? 0;
    });
    resized.observe(frame.current);
    return () => resized.disconnect();
  }, []);
  // The newest row stays in view unless somebody has scrolled back.
  const scrollDown = useRef(() => {
    if (frame.current === null || !isFollowing.peek()) return;
    frame.current.scrollTop = farBelow;
    lastTop.current = frame.current.scrollTop;
  });
  useLayoutEffect(() => paintSoon(scrollDown.current), [lowest, isFollowing.value]);
  useSignalEffect(() => {
    const id = markedId.value;
    const box = frame.current;
    isFollowing.value = id === undefined;
    if (id === undefined || box === null) return;
    top.value = box.scrollTop;
    const at = eventRows.peek().findIndex((row) => row.id === id) * rowPx;
    if (at < box.scrollTop) box.scrollTop = at;
    else if (at + rowPx > box.scrollTop + box.clientHeight) box.scrollTop = at + rowPx - box.clientHeight;
  });

  return (
    <div
      class="rows"
      ref={frame}
      tabIndex={0}
      role="listbox"
      aria-label="Events"
      aria-activedescendant={marked.value === undefined ? undefined : `event-${marked.value.id}`}
      onScroll={({ currentTarget }) => {
        const { scrollTop } = currentTarget;
        // Uses the known heights: reading them from the box each time would cause another layout.
        const isLowest = scrollTop >= lowest - rowPx;
        // New rows, or a box that has grown, do not mean that somebody scrolled back.
        const isUp = scrollTop < lastTop.current && Math.abs(currentTarget.clientHeight - height.value) < 1;
        lastTop.current = scrollTop;
        if (isLowest || isUp) isFollowing.value = isLowest && list.peek().marked === undefined;
        if (!isFollowing.value) top.value = scrollTop;
      }}
    >
      <div class="all" role="presentation" style={{ height: `${all.length * rowPx}px` }}>
        {all.slice(first, first + count).map((row, index) => (
          // Elements are reused for other rows: creating new ones costs more.
          <EventRow
            key={(first + index) % count}
            row={row}
            top={(first + index) * rowPx}
            isMarked={row.id === marked.value?.id}
          />
        ))}
      </div>
    </div>
  );
}

function EventRow({ row, top, isMarked }: { row: Row; top: number; isMarked: boolean }) {
  const { id, t, from, subject, text, level } = row;
  return (
    <div
      id={`event-${id}`}
      class="row"
      role="option"
      tabIndex={-1}
      aria-selected={isMarked}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => mark(row)}
      onKeyDown={() => {}}
    >
      <span class="at">{(t / 1000).toFixed(3)}</span>
      <span aria-hidden="true">{originSigns[from]}</span>
      <span class="who">{whoText(row)}</span>
      <span class="text">
        <b class={tones[level]}>{subject}</b> {text}
      </span>
    </div>
  );
}

/** The marked event as JSON. */
function Detail() {
  const row = detail.value;
  if (row === undefined) return null;
  return (
    <div class="detail">
      <div class="line">
        <b>{row.subject}</b>
        <button type="button" onClick={copyJson}>
          Copy
        </button>
        <button type="button" onClick={() => (detail.value = undefined)}>
          Close
        </button>
      </div>
      <pre tabIndex={0}>{jsonLines(row.event)}</pre>
    </div>
  );
}

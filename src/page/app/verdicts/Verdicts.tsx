import { useSignalEffect } from '@preact/signals';
import { jsonLines } from '../../../kernel/escape.ts';
import type { Row } from '../../../ui/event-list.ts';
import type { ItemSeen } from '../../../ui/verdict-model.ts';
import { copy } from '../live/notice.ts';
import { model, opened, rows, setFilter, toggle } from './verdicts.ts';

const tones: Record<string, string> = {
  pass: 'good',
  fail: 'bad',
  warn: 'note',
  unknown: 'note',
  observed: '',
  skipped: 'faint',
  waiting: 'faint',
};

/** Each rule, or each situation, with its verdict and what was seen. */
export function Verdicts() {
  const { items, what, list } = model.value;
  useSignalEffect(() => {
    const { marked } = model.value.list;
    if (marked !== undefined)
      document.getElementById(`verdict-${marked}`)?.scrollIntoView({ block: 'nearest' });
  });
  return (
    <section class="panel" aria-labelledby="verdicts-title">
      <div class="title">
        <h2 id="verdicts-title">{what === '' ? 'verdicts' : what}</h2>
        <Counts items={items} />
        <label for="filter" class="hidden">
          Filter
        </label>
        <input
          id="filter"
          type="search"
          placeholder="Filter: words kind:fail"
          value={list.filter}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      </div>
      <ul class="verdicts">
        {rows.value.map((row) => {
          const item = items[row.id];
          return item && <Item key={row.id} row={row} item={item} isMarked={row.id === list.marked} />;
        })}
      </ul>
      {items.length > 0 && rows.value.length === 0 && <p class="faint">Nothing passes the filter.</p>}
    </section>
  );
}

/** How many have which verdict; each count filters the list. */
function Counts({ items }: { items: readonly ItemSeen[] }) {
  const counts = new Map<string, number>();
  for (const { verdict } of items)
    if (verdict !== undefined) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  return (
    <div class="line verdict-counts">
      {[...counts].map(([verdict, count]) => {
        const filter = `kind:${verdict}`;
        const isOn = model.value.list.filter === filter;
        return (
          <button
            key={verdict}
            type="button"
            class={tones[verdict]}
            aria-pressed={isOn}
            onClick={() => setFilter(isOn ? '' : filter)}
          >
            {count} {verdict}
          </button>
        );
      })}
    </div>
  );
}

function Item({ row, item, isMarked }: { row: Row; item: ItemSeen; isMarked: boolean }) {
  const { id, title, verdict = 'waiting', message, isFinal } = item;
  const isOpen = opened.value.has(row.id) && row.full !== undefined;
  return (
    <li id={`verdict-${row.id}`} data-marked={isMarked}>
      <button type="button" class="verdict-row" aria-expanded={isOpen} onClick={() => toggle(row)}>
        <span class={`kind ${tones[verdict] ?? ''}`}>{verdict}</span>
        <span class="id">{id}</span>
        <span>
          <b>{title}</b>
          {message !== '' && <span class="faint"> {message}</span>}
          {verdict !== 'waiting' && !isFinal && <span class="note"> asked again at the end</span>}
        </span>
      </button>
      {isOpen && (
        <div class="detail">
          <pre tabIndex={0}>{row.full?.lines.join('\n')}</pre>
          <div class="line">
            <button type="button" onClick={() => copy(jsonLines(row.event), 'the verdict')}>
              Copy as JSON
            </button>
          </div>
        </div>
      )}
    </li>
  );
}

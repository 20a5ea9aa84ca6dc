import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { systemClock } from '../../../kernel/clock.ts';
import { jsonLines } from '../../../kernel/escape.ts';
import { markedRow, type Row } from '../../../ui/event-list.ts';
import type { KeyCommand } from '../../../ui/keys.ts';
import type { JudgedItem } from '../../../ui/verdict-model.ts';
import { followServer } from '../live/feed.ts';
import { link } from '../live/link.ts';
import { listenToKeys } from '../live/listen-to-keys.ts';
import { NoToken } from '../live/NoToken.tsx';
import { copyText, NoticeBar } from '../live/Notice.tsx';
import { LinkState, Title } from '../live/Title.tsx';
import {
  applyVerdicts,
  isOver,
  model,
  moveToVerdict,
  openedVerdict,
  remark,
  setVerdictFilter,
  start,
  toggleRow,
  verdictRows,
} from './verdicts.ts';

/** The page of `check` and `drill`: the verdicts as they arrive. */
export function VerdictPage() {
  useEffect(() => {
    followServer({ since: () => 0, apply: applyVerdicts, isOver });
    return listenToKeys(
      () => model.value.start,
      (command) => effects[command],
    );
  }, []);
  useEffect(() => {
    if (start.value !== undefined) document.title = `voicectl ${start.value.command} ${start.value.subject}`;
  }, [start.value]);
  if (link.value === 'no-token' || link.value === 'refused') return <NoToken />;
  const { version, command, subject } = start.value ?? {};
  const { ended } = model.value;
  return (
    <>
      <header class="head">
        <Title version={version} subject={command && `${command} ${subject}`} />
        <LinkState stopped={ended?.text ?? ''} stoppedTone={ended?.ok ? 'good' : 'bad'} />
      </header>
      <main class="board verdict-board">
        <Progress />
        <Verdicts />
      </main>
      <NoticeBar />
    </>
  );
}

/** What is being done, how much of the plan is used up, and how it ended. */
function Progress() {
  const { amounts, ended, what, items } = model.value;
  const judged = items.filter(({ verdict }) => verdict !== undefined).length;
  return (
    <section class="panel progress" aria-label="Progress">
      <p class="doing">
        {ended === undefined ? <Doing /> : <b class={ended.ok ? 'good' : 'bad'}>{ended.text}</b>}
      </p>
      {remark.value !== '' && <p>{remark.value}</p>}
      <ul>
        <Amount name={what === '' ? 'verdicts' : `${what} judged`} used={judged} of={items.length} />
        {amounts
          .filter(({ name }) => name !== what)
          .map((amount) => (
            <Amount key={amount.name} {...amount} />
          ))}
      </ul>
    </section>
  );
}

function Amount({ name, used, of }: { name: string; used: number; of: number }) {
  return (
    <li class="bar">
      <span>
        {used}/{of} {name}
      </span>
      <progress aria-label={name} max={Math.max(1, of)} value={used} />
    </li>
  );
}

/** What is being done now; a wait counts down. */
function Doing() {
  const { doing } = model.value;
  const now = useSignal(systemClock.now());
  useEffect(() => {
    if (doing.until === undefined) return;
    const tick = () => {
      now.value = systemClock.now();
      timer = systemClock.after(500, tick);
    };
    let timer = systemClock.after(0, tick);
    return () => timer.cancel();
  }, [doing]);
  const left = doing.until === undefined ? 0 : Math.ceil((doing.until - now.value) / 1000);
  return (
    <>
      {doing.text}
      {left > 0 && <span class="faint"> {left} s</span>}
    </>
  );
}

const far = 1_000_000;

const effects: Partial<Record<KeyCommand, () => void>> = {
  filter: () => document.querySelector<HTMLElement>('#filter')?.focus(),
  open() {
    const row = markedRow(model.value.list);
    if (row !== undefined) toggleRow(row);
  },
  back() {
    if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
    else setVerdictFilter('');
  },
  copyJson() {
    const row = markedRow(model.value.list);
    if (row !== undefined) void copyText(jsonLines(row.event), 'the verdict');
  },
  up: () => moveToVerdict(-1),
  down: () => moveToVerdict(1),
  pageUp: () => moveToVerdict(-20),
  pageDown: () => moveToVerdict(20),
  first: () => moveToVerdict(-far),
};

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
function Verdicts() {
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
          onInput={(event) => setVerdictFilter(event.currentTarget.value)}
        />
      </div>
      <ul class="verdicts">
        {verdictRows.value.map((row) => {
          const item = items[row.id];
          return item && <Item key={row.id} row={row} item={item} isMarked={row.id === list.marked} />;
        })}
      </ul>
      {items.length > 0 && verdictRows.value.length === 0 && <p class="faint">Nothing matches the filter.</p>}
    </section>
  );
}

/** The count of each verdict; each one filters the list. */
function Counts({ items }: { items: readonly JudgedItem[] }) {
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
            onClick={() => setVerdictFilter(isOn ? '' : filter)}
          >
            {count} {verdict}
          </button>
        );
      })}
    </div>
  );
}

function Item({ row, item, isMarked }: { row: Row; item: JudgedItem; isMarked: boolean }) {
  const { id, title, verdict = 'waiting', message, isFinal } = item;
  const isOpen = openedVerdict.value.has(row.id) && row.full !== undefined;
  return (
    <li id={`verdict-${row.id}`} data-marked={isMarked}>
      <button type="button" class="verdict-row" aria-expanded={isOpen} onClick={() => toggleRow(row)}>
        <span class={`kind ${tones[verdict] ?? ''}`}>{verdict}</span>
        <span class="id">{id}</span>
        <span>
          <b>{title}</b>
          {message !== '' && <span class="faint"> {message}</span>}
          {verdict !== 'waiting' && !isFinal && <span class="note"> tried again at the end</span>}
        </span>
      </button>
      {isOpen && (
        <div class="detail">
          <pre tabIndex={0}>{row.full?.lines.join('\n')}</pre>
          <div class="line">
            <button type="button" onClick={() => copyText(jsonLines(row.event), 'the verdict')}>
              Copy as JSON
            </button>
          </div>
        </div>
      )}
    </li>
  );
}

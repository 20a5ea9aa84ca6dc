import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { systemClock } from '../../../kernel/clock.ts';
import { jsonLines } from '../../../kernel/escape.ts';
import { markedRow } from '../../../ui/event-list.ts';
import { type Command, commandOf } from '../../../ui/keys.ts';
import { followServer } from '../live/feed.ts';
import { isTaken, keyName } from '../live/key-names.ts';
import { link } from '../live/link.ts';
import { NoToken } from '../live/NoToken.tsx';
import { Notice } from '../live/Notice.tsx';
import { copy } from '../live/notice.ts';
import { LinkState, Title } from '../live/Title.tsx';
import { Verdicts } from './Verdicts.tsx';
import { isOver, model, moveTo, remark, setFilter, start, takeVerdicts, toggle } from './verdicts.ts';

/** The page of `check` and `drill`: the verdicts as they come. */
export function VerdictPage() {
  useEffect(() => {
    followServer({ since: () => 0, take: takeVerdicts, isOver });
    return listenToVerdictKeys();
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
        <LinkState stopped={ended?.text ?? ''} gravity={ended?.ok ? 'good' : 'bad'} />
      </header>
      <main class="board verdict-board">
        <Progress />
        <Verdicts />
      </main>
      <Notice />
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

/** What is done now; a wait counts down. */
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

const effects: Partial<Record<Command, () => void>> = {
  filter: () => document.querySelector<HTMLElement>('#filter')?.focus(),
  open() {
    const row = markedRow(model.value.list);
    if (row !== undefined) toggle(row);
  },
  back() {
    if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
    else setFilter('');
  },
  copyJson() {
    const row = markedRow(model.value.list);
    if (row !== undefined) void copy(jsonLines(row.event), 'the verdict');
  },
  up: () => moveTo(-1),
  down: () => moveTo(1),
  pageUp: () => moveTo(-20),
  pageDown: () => moveTo(20),
  first: () => moveTo(-far),
};

/** Listens to the keys of the screens of verdicts. Call the result to stop. */
function listenToVerdictKeys(): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (isTaken(event)) return;
    const command = commandOf(keyName(event), model.value.start);
    const effect = command === undefined ? undefined : effects[command];
    if (effect === undefined) return;
    event.preventDefault();
    effect();
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}

import { jsonLines } from '../../../kernel/escape.ts';
import { markedRow } from '../../../ui/event-list.ts';
import { type Command, commandOf } from '../../../ui/keys.ts';
import { isTaken, keyName } from '../live/key-names.ts';
import { copy } from '../live/notice.ts';
import { model, moveTo, setFilter, toggle } from './verdicts.ts';

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
export function listenToVerdictKeys(): () => void {
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

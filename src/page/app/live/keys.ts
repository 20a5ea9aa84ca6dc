import { bindingsFor, type Command, commandOf } from '../../../ui/keys.ts';
import { kind } from './Actions.tsx';
import { actOn, copy } from './act.ts';
import { advance } from './Clock.tsx';
import { copyJson, detail, moveTo, pressList, toggleDetail } from './event-keys.ts';
import { hello, help, opened, shown } from './store.ts';

const screen = {
  screen: 'serve',
  can: ['copy', 'copyCurl', 'advance', 'close', 'send', 'fault'],
} as const;

/** Keys that a browser needs for itself, or that make no sense in one: `tab` moves the focus. */
const left: readonly Command[] = ['quit', 'nextPanel', 'save'];

/** The keys of the screen of `serve`, as far as the page has them. */
export const pageBindings = bindingsFor(screen).filter(({ command }) => !left.includes(command));

const names: Record<string, string> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  PageUp: 'pageup',
  PageDown: 'pagedown',
  Home: 'home',
  End: 'end',
  Enter: 'enter',
  Escape: 'escape',
};

const focus = (selector: string) => document.querySelector<HTMLElement>(selector)?.focus();

const effects: Partial<Record<Command, () => void>> = {
  help: () => (help.value = !help.value),
  advance: () => void advance('61s'),
  close() {
    const stream = shown.value?.stream;
    if (stream !== undefined)
      void actOn('close', { stream, code: 1012, reason: 'Closed by hand' }, 'Closed with 1012');
  },
  faults: () => focus('#fault-name'),
  send() {
    kind.value = 'json';
    requestAnimationFrame(() => focus('form[aria-label="Any JSON"] input'));
  },
  filter: () => focus('#filter'),
  open: toggleDetail,
  back() {
    if (detail.value === undefined && opened.value !== undefined) opened.value = undefined;
    else pressList('back');
  },
  copyJson,
  copyCurl: () => void copy(hello.value?.curl ?? '', 'the token request'),
  up: () => moveTo(-1),
  down: () => moveTo(1),
  pageUp: () => moveTo(-20),
  pageDown: () => moveTo(20),
  first: () => pressList('first'),
  follow: () => pressList('follow'),
  pause: () => pressList('pause'),
};

/** Listens to the keys of the page. Call the result to stop. */
export function listenToKeys(): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTaken(event)) return;
    const command = commandOf(names[event.key] ?? event.key, screen);
    const effect = command === undefined || left.includes(command) ? undefined : effects[command];
    if (effect === undefined || (opened.value !== undefined && command !== 'back' && command !== 'help'))
      return;
    event.preventDefault();
    effect();
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}

/** A key that the focused control has a use for itself. */
function isTaken({ key, target }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest('dialog') !== null && key !== '?') return true;
  if (target.closest('input, select, textarea') !== null) return key !== 'Escape';
  const isPlain = key === 'Enter' || key === ' ';
  if (target.closest('button, a, summary, label') !== null) return isPlain;
  const scrolls = ['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End'];
  return target.closest('.timeline, pre, .scroll') !== null && scrolls.includes(key);
}

import { bindingsFor, closeQuestion, type KeyCommand, showEventHelp } from '../../../ui/keys.ts';
import type { ScreenStart } from '../../../ui/port.ts';
import { kind } from './Actions.tsx';
import { actOn } from './act.ts';
import { advance } from './Clock.tsx';
import { copyJson, detail, moveToEvent, pressList, toggleDetail } from './Events.tsx';
import { listenToKeys } from './listen-to-keys.ts';
import { copyText } from './Notice.tsx';
import { hello, help, isProxy, openedRecording, shown } from './store.ts';

const screen = (): Pick<ScreenStart, 'screen' | 'can'> => ({
  screen: 'serve',
  can: ['copy', 'copyCurl', 'close', 'send', 'fault', ...(isProxy() ? [] : ['advance' as const])],
});

/** Keys that the browser needs itself (`tab` moves the focus), or that make no sense in a browser. */
const left: readonly KeyCommand[] = ['quit', 'nextPanel', 'save'];

/** The keys of the screen of `serve` that the page has too. Streams have buttons there, so `enter` opens only events. */
export const pageBindings = () =>
  bindingsFor(screen())
    .filter(({ command }) => !left.includes(command))
    .map((binding) => (binding.command === 'open' ? { ...binding, help: showEventHelp } : binding));

const focus = (selector: string) => document.querySelector<HTMLElement>(selector)?.focus();

const effects: Partial<Record<KeyCommand, () => void>> = {
  help() {
    // The browser closes the dialog by itself, and its event comes later.
    const isOpen = document.querySelector('dialog[open]') !== null;
    help.value = false;
    help.value = !isOpen;
  },
  advance: () => void advance('61s'),
  close() {
    const { number: stream, device } = shown.value ?? {};
    if (stream !== undefined && confirm(closeQuestion(stream, device)))
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
    if (detail.value === undefined && openedRecording.value !== undefined) openedRecording.value = undefined;
    else pressList('back');
  },
  copyJson,
  copyCurl: () => void copyText(hello.value?.curl ?? '', 'the token request'),
  up: () => moveToEvent(-1),
  down: () => moveToEvent(1),
  pageUp: () => moveToEvent(-20),
  pageDown: () => moveToEvent(20),
  first: () => pressList('first'),
  follow: () => pressList('follow'),
  pause: () => pressList('pause'),
};

/** Listens to the keys of the page. Call the result to stop. */
export function listenToPageKeys(): () => void {
  return listenToKeys(screen, (command) => {
    const isHere = openedRecording.value === undefined || command === 'back' || command === 'help';
    return isHere && !left.includes(command) ? effects[command] : undefined;
  });
}

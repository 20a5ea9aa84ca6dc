import type { ActionType, ScreenName, ScreenStart } from './port.ts';
import type { Key } from './read-keys.ts';

/** Every command that a key can have. */
export type Command =
  | 'up'
  | 'down'
  | 'pageUp'
  | 'pageDown'
  | 'first'
  | 'follow'
  | 'open'
  | 'back'
  | 'filter'
  | 'pause'
  | 'copyJson'
  | 'copyCurl'
  | 'save'
  | 'mute'
  | 'talk'
  | 'reconnect'
  | 'nextPanel'
  | 'advance'
  | 'close'
  | 'send'
  | 'faults'
  | 'help'
  | 'quit';

interface Binding {
  command: Command;
  keys: readonly Key[];
  /** The name of the key on the screen. */
  shown: string;
  help: string;
  /** A word for the last line of the screen; without it the key is only in the help. */
  hint?: string;
  /** The screens that have it; default: all. */
  screens?: readonly ScreenName[];
  /** Only there if the program can do this. */
  needs?: ActionType;
}

/** Every key, in the order of the help. */
export const bindings: readonly Binding[] = [
  { command: 'help', keys: ['?'], shown: '?', help: 'this help', hint: 'keys' },
  {
    command: 'quit',
    keys: ['q'],
    shown: 'q',
    help: 'quit after the reply; twice: at once',
    hint: 'quit',
    screens: ['stream'],
  },
  { command: 'quit', keys: ['q'], shown: 'q', help: 'stop the emulator', hint: 'quit', screens: ['serve'] },
  {
    command: 'quit',
    keys: ['q'],
    shown: 'q',
    help: 'stop, or leave when all is done',
    hint: 'quit',
    screens: ['check', 'drill'],
  },
  {
    command: 'quit',
    keys: ['q'],
    shown: 'q',
    help: 'close all streams and show the result; leave when all is done',
    hint: 'quit',
    screens: ['load'],
  },
  {
    command: 'follow',
    keys: ['end', 'G'],
    shown: 'end G',
    help: 'follow the newest event',
    hint: 'follow',
    screens: ['stream', 'serve', 'load'],
  },
  {
    command: 'mute',
    keys: ['m'],
    shown: 'm',
    help: 'mute or unmute',
    hint: 'mute',
    screens: ['stream'],
    needs: 'mute',
  },
  {
    command: 'talk',
    keys: ['space'],
    shown: 'space',
    help: 'hold to talk, muted otherwise',
    hint: 'talk',
    screens: ['stream'],
    needs: 'mute',
  },
  {
    command: 'reconnect',
    keys: ['r'],
    shown: 'r',
    help: 'connect again, with a fresh token',
    hint: 'reconnect',
    screens: ['stream'],
    needs: 'reconnect',
  },
  {
    command: 'nextPanel',
    keys: ['tab'],
    shown: 'tab',
    help: 'next panel: journal, sessions, devices',
    hint: 'panel',
    screens: ['serve'],
  },
  {
    command: 'advance',
    keys: ['+'],
    shown: '+',
    help: 'move the clock 61 s ahead: tokens expire, windows reset',
    hint: '61 s',
    screens: ['serve'],
    needs: 'advance',
  },
  {
    command: 'close',
    keys: ['x'],
    shown: 'x',
    help: 'close the marked session (1012), after a question',
    hint: 'close',
    screens: ['serve'],
    needs: 'close',
  },
  {
    command: 'faults',
    keys: ['f'],
    shown: 'f',
    help: 'add or end a fault; type to filter them',
    hint: 'faults',
    screens: ['serve'],
    needs: 'fault',
  },
  {
    command: 'send',
    keys: ['e'],
    shown: 'e',
    help: 'send a message to the marked session',
    hint: 'send',
    screens: ['serve'],
    needs: 'send',
  },
  {
    command: 'filter',
    keys: ['/'],
    shown: '/',
    help: 'filter: words, kind:NAME dir:in|out device:ID stream:N',
    hint: 'filter',
    screens: ['stream', 'serve'],
  },
  {
    command: 'filter',
    keys: ['/'],
    shown: '/',
    help: 'filter: words, kind:fail and other verdicts',
    hint: 'filter',
    screens: ['check', 'drill'],
  },
  { command: 'filter', keys: ['/'], shown: '/', help: 'filter: words', hint: 'filter', screens: ['load'] },
  {
    command: 'open',
    keys: ['enter'],
    shown: 'enter',
    help: 'open the marked event, session or device',
    hint: 'open',
    screens: ['serve'],
  },
  {
    command: 'open',
    keys: ['enter'],
    shown: 'enter',
    help: 'show the marked event as JSON',
    hint: 'open',
    screens: ['stream'],
  },
  {
    command: 'open',
    keys: ['enter'],
    shown: 'enter',
    help: 'show what was seen',
    hint: 'open',
    screens: ['check', 'drill'],
  },
  {
    command: 'open',
    keys: ['enter'],
    shown: 'enter',
    help: 'show the marked line in full',
    hint: 'open',
    screens: ['load'],
  },
  {
    command: 'pause',
    keys: ['p'],
    shown: 'p',
    help: 'pause or continue the list',
    hint: 'pause',
    screens: ['stream', 'serve'],
  },
  {
    command: 'follow',
    keys: ['end', 'G'],
    shown: 'end G',
    help: 'follow the latest verdict',
    hint: 'follow',
    screens: ['check', 'drill'],
  },
  { command: 'up', keys: ['up', 'k'], shown: 'up k', help: 'the line above' },
  { command: 'down', keys: ['down', 'j'], shown: 'down j', help: 'the line below' },
  { command: 'pageUp', keys: ['pageup'], shown: 'pgup', help: 'a page up' },
  { command: 'pageDown', keys: ['pagedown'], shown: 'pgdn', help: 'a page down' },
  { command: 'first', keys: ['home', 'g'], shown: 'home g', help: 'the first line' },
  { command: 'back', keys: ['escape'], shown: 'esc', help: 'back; with nothing open: clear the filter' },
  { command: 'copyJson', keys: ['y'], shown: 'y', help: 'copy the marked line as JSON', needs: 'copy' },
  { command: 'copyCurl', keys: ['c'], shown: 'c', help: 'copy the token request as curl', needs: 'copyCurl' },
  { command: 'save', keys: ['s'], shown: 's', help: 'save the events as JSON lines', needs: 'save' },
];

/** The keys of a screen whose actions the program supports. */
export function bindingsFor({ screen, can }: Pick<ScreenStart, 'screen' | 'can'>): readonly Binding[] {
  return bindings.filter(
    (binding) =>
      (binding.screens === undefined || binding.screens.includes(screen)) &&
      (binding.needs === undefined || can.includes(binding.needs)),
  );
}

/** The command of a key on a screen. */
export function commandOf(key: Key, start: Pick<ScreenStart, 'screen' | 'can'>): Command | undefined {
  return bindingsFor(start).find(({ keys }) => keys.includes(key))?.command;
}

import { escapeText } from '../kernel/escape.ts';
import type { ActionType, ScreenName, ScreenStart } from './port.ts';
import type { Key } from './read-keys.ts';

/** What a filter of events can contain. */
export const filterExample = 'words kind:NAME from:device|service device:ID stream:N';

/** What `x` asks before it closes a stream. */
export function closeQuestion(stream: number, device: string | undefined): string {
  return `Close stream ${stream}${device === undefined ? '' : ` of ${escapeText(device)}`} with code 1012?`;
}

/** What `enter` does where only events can be opened. */
export const showEventHelp = 'show the marked event as JSON';

interface Binding {
  keys: readonly Key[];
  /** The name of the key on the screen; default: its keys. */
  shown?: string;
  /** What it does: on all screens, or on each screen that has it. */
  help: string | Partial<Record<ScreenName, string>>;
  /** A word for the last line of the screen; without it the key is only in the help. */
  hint?: string;
  /** The key exists only if the program supports this action. */
  needs?: ActionType;
}

const ofVerdicts = (help: string) => ({ check: help, drill: help });

/** The key of every command, in the order of the help. */
const keyTable = {
  help: { keys: ['?'], help: 'show this help', hint: 'keys' },
  quit: {
    keys: ['q'],
    help: {
      stream: 'quit after the reply; press twice to force',
      serve: 'stop, and close all streams; press twice to force',
      ...ofVerdicts('stop, or quit when done; press twice to force'),
      load: 'close all streams and show the result, or quit; press twice to force',
    },
    hint: 'quit',
  },
  follow: {
    keys: ['end', 'G'],
    help: {
      stream: 'follow the newest event',
      serve: 'follow the newest event',
      load: 'follow the newest event',
      ...ofVerdicts('follow the latest verdict'),
    },
    hint: 'follow',
  },
  mute: { keys: ['m'], help: { stream: 'mute or unmute' }, hint: 'mute', needs: 'mute' },
  talk: { keys: ['space'], help: { stream: 'hold to talk, muted otherwise' }, hint: 'talk', needs: 'mute' },
  reconnect: {
    keys: ['r'],
    help: { stream: 'connect again with a new token' },
    hint: 'reconnect',
    needs: 'reconnect',
  },
  nextPanel: {
    keys: ['tab'],
    help: { serve: 'go to the next panel: journal, streams, devices' },
    hint: 'panel',
  },
  advance: {
    keys: ['+'],
    help: { serve: 'move the clock 61 s ahead: tokens expire, windows reset' },
    hint: '61 s',
    needs: 'advance',
  },
  close: {
    keys: ['x'],
    help: { serve: 'close the marked stream (1012), after a confirmation' },
    hint: 'close',
    needs: 'close',
  },
  faults: {
    keys: ['f'],
    help: { serve: 'add or end a fault; type to filter the list' },
    hint: 'faults',
    needs: 'fault',
  },
  send: { keys: ['e'], help: { serve: 'send a message to the marked stream' }, hint: 'send', needs: 'send' },
  filter: {
    keys: ['/'],
    help: {
      stream: `filter: ${filterExample}`,
      serve: `filter: ${filterExample}`,
      ...ofVerdicts('filter by words, or by verdict, such as kind:fail'),
      load: 'filter by words',
    },
    hint: 'filter',
  },
  open: {
    keys: ['enter'],
    help: {
      serve: 'open the marked event, stream or device',
      stream: showEventHelp,
      ...ofVerdicts('show what was seen'),
      load: 'show the marked line in full',
    },
    hint: 'open',
  },
  pause: {
    keys: ['p'],
    help: { stream: 'pause or continue the list', serve: 'pause or continue the list' },
    hint: 'pause',
  },
  up: { keys: ['up', 'k'], help: 'go to the line above' },
  down: { keys: ['down', 'j'], help: 'go to the line below' },
  pageUp: { keys: ['pageup'], shown: 'pgup', help: 'go up a page' },
  pageDown: { keys: ['pagedown'], shown: 'pgdn', help: 'go down a page' },
  first: { keys: ['home', 'g'], help: 'go to the first line' },
  back: { keys: ['escape'], shown: 'esc', help: 'go back; with nothing open: clear the filter' },
  copyJson: { keys: ['y'], help: 'copy the marked line as JSON', needs: 'copy' },
  copyCurl: {
    keys: ['c'],
    help: { stream: 'copy the token request as curl', serve: 'copy the token request as curl' },
    needs: 'copyCurl',
  },
  save: {
    keys: ['s'],
    help: { stream: 'save the events as JSON lines', serve: 'save the events as JSON lines' },
    needs: 'save',
  },
} satisfies Record<string, Binding>;

export type KeyCommand = keyof typeof keyTable;

export const bindings = Object.entries<Binding>(keyTable).map(([command, binding]) => ({
  ...binding,
  command: command as KeyCommand,
}));

/** The keys of a screen whose actions the program supports. */
export function bindingsFor({ screen, can }: Pick<ScreenStart, 'screen' | 'can'>) {
  return bindings.flatMap(({ command, keys, shown = keys.join(' '), help, hint, needs }) => {
    const text = typeof help === 'string' ? help : help[screen];
    const isThere = text !== undefined && (needs === undefined || can.includes(needs));
    return isThere ? [{ command, shown, help: text, hint }] : [];
  });
}

/** The command of a key on a screen. */
export function commandOf(key: Key, start: Pick<ScreenStart, 'screen' | 'can'>): KeyCommand | undefined {
  const command = bindings.find(({ keys }) => keys.includes(key))?.command;
  return bindingsFor(start).some((one) => one.command === command) ? command : undefined;
}

import type { Browser } from './browser.ts';
import { shownRows } from './event-list.ts';
import { bindingsFor, type KeyCommand } from './keys.ts';

/** A key, and what it does now: a few words. */
export interface Hint {
  key: string;
  text: string;
}

/** The keys for the last line of the screen: those that do something now, the most useful first. */
export function hintsFor(model: Browser): Hint[] {
  const { overlay, start } = model;
  const arrows = start.ascii ? 'up down' : '↑ ↓';
  const close = { key: 'esc', text: 'close' };
  switch (overlay?.type) {
    case 'help':
      return [{ key: arrows, text: 'scroll' }, close];
    case 'detail':
      return [{ key: arrows, text: 'scroll' }, { key: 'pgup pgdn', text: 'a page' }, close];
    case 'choice':
      return [
        { key: 'type', text: 'to filter' },
        { key: arrows, text: 'mark' },
        { key: 'enter', text: 'choose' },
        overlay.filter === '' ? close : { key: 'esc', text: 'clear the filter' },
      ];
    default:
      return bindingsFor(start).flatMap(({ shown, hint, command }) =>
        hint === undefined || isIdle(model, command) ? [] : [{ key: shown.split(' ')[0] ?? '', text: hint }],
      );
  }
}

/** Whether a command has nothing to act on now. */
function isIdle({ list, idle }: Browser, command: KeyCommand): boolean {
  switch (command) {
    case 'follow':
      return list.marked === undefined && list.heldAfter === undefined;
    case 'pause':
    case 'filter':
      return list.rows.length === 0 || idle.includes(command);
    case 'open':
      return idle.includes(command) || (!idle.includes('filter') && shownRows(list).length === 0);
    default:
      return idle.includes(command);
  }
}

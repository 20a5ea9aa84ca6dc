import { Text } from 'ink';
import type { Browser, PromptPurpose } from './browser.ts';
import { cutTo, fittingTexts, widthOf } from './cells.ts';
import { shownRows } from './event-list.ts';
import { bindingsFor, filterExample, type KeyCommand } from './keys.ts';
import type { Band } from './layout.ts';
import { useGlyphs } from './theme.ts';

/** The last line of every screen. */
export function footBand(model: Browser, columns: number): Band {
  const hints = hintsFor(model).map(({ key, text }) => `${key} ${text}`);
  return {
    name: 'foot',
    lines: 1,
    on: [model.overlay, model.notice, hints.join()],
    draw: () => <Foot model={model} width={columns} />,
  };
}

/** The last line: a prompt, a question, the last action, or the keys. */
function Foot({ model, width }: { model: Browser; width: number }) {
  const { show } = useGlyphs();
  const { overlay, notice } = model;
  if (overlay?.type === 'prompt') {
    return <Prompt {...promptTexts[overlay.purpose]} typed={overlay.text} width={width} />;
  }
  if (overlay?.type === 'choice' && overlay.filter !== '') {
    const keys = 'enter chooses, esc clears the filter';
    return <Prompt label="filter" example="" keys={keys} typed={overlay.filter} width={width} />;
  }
  if (overlay?.type === 'confirm') {
    return (
      <Text wrap="truncate">
        <Text bold>{cutTo(show(overlay.question, width), width - 30)}</Text>{' '}
        <Text dimColor>y or enter: yes, any other key: no</Text>
      </Text>
    );
  }
  if (notice !== undefined) return <Text wrap="truncate">{cutTo(show(notice.text, width), width)}</Text>;
  return <Hints model={model} width={width} />;
}

interface PromptProps extends PromptText {
  typed: string;
  width: number;
}

/** What is typed, and, if there is room, what to type and which key confirms. */
function Prompt({ label, example, keys, typed, width }: PromptProps) {
  const { show } = useGlyphs();
  // Show the end of the text, where typing continues.
  const text = [...show(typed.slice(-2 * width), width)].slice(-(width - label.length - 5)).join('');
  const room = width - label.length - widthOf(text) - 6;
  const whole = `${keys}: ${example}`;
  const help = example !== '' && (typed === '' || widthOf(whole) <= room) ? whole : keys;
  return (
    <Text wrap="truncate">
      <Text bold>{label}:</Text> {text}
      <Text inverse> </Text> <Text dimColor>{room < 12 ? '' : cutTo(show(help, width), room)}</Text>
    </Text>
  );
}

function Hints({ model, width }: { model: Browser; width: number }) {
  const hints = hintsFor(model);
  const texts = hints.map(({ key, text }) => `${key} ${text}`);
  return (
    <Text wrap="truncate">
      {hints.slice(0, fittingTexts(texts, width).length).map(({ key, text }, index) => (
        <Text key={text}>
          {index === 0 ? '' : '   '}
          <Text bold>{key}</Text> <Text dimColor>{text}</Text>
        </Text>
      ))}
    </Text>
  );
}

/** What a prompt asks for: its name, what to type, and what the keys do. */
interface PromptText {
  label: string;
  example: string;
  keys: string;
}

const promptTexts: Record<PromptPurpose, PromptText> = {
  filter: {
    label: 'filter',
    example: filterExample,
    keys: 'enter keeps it, esc clears it',
  },
  send: {
    label: 'send',
    example: 'speaking, listening, error CODE words, or JSON',
    keys: 'enter sends, esc cancels',
  },
  fault: {
    label: 'fault',
    example: 'NAME:key=value,… such as times=2 or device=ID',
    keys: 'enter adds it, esc cancels',
  },
};

/** A key, and what it does now, in a few words. */
interface Hint {
  key: string;
  text: string;
}

/** The keys for the last line of the screen: those that do something now, the most useful first. */
function hintsFor(model: Browser): Hint[] {
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

import { Text } from 'ink';
import type { Band } from './bands.ts';
import type { Browser, PromptPurpose } from './browser.ts';
import { cutTo, steady, widthOf } from './cells.ts';
import { toAscii } from './glyphs.ts';
import { hintsFor } from './hints.ts';
import { filterExample } from './keys.ts';
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
  const { ellipsis } = useGlyphs();
  const { overlay, notice, start } = model;
  const show = (text: string) => (start.ascii ? toAscii(text) : steady(text, width));
  if (overlay?.type === 'prompt') {
    return <Prompt {...promptTexts[overlay.purpose]} typed={overlay.text} show={show} width={width} />;
  }
  if (overlay?.type === 'choice' && overlay.filter !== '') {
    const keys = 'enter chooses, esc clears the filter';
    return <Prompt label="filter" example="" keys={keys} typed={overlay.filter} show={show} width={width} />;
  }
  if (overlay?.type === 'confirm') {
    return (
      <Text wrap="truncate">
        <Text bold>{cutTo(show(overlay.question), width - 30, ellipsis)}</Text>{' '}
        <Text dimColor>y or enter: yes, any other key: no</Text>
      </Text>
    );
  }
  if (notice !== undefined) return <Text wrap="truncate">{cutTo(show(notice.text), width, ellipsis)}</Text>;
  return <Hints model={model} width={width} />;
}

interface PromptProps extends PromptText {
  typed: string;
  show: (text: string) => string;
  width: number;
}

/** What is typed, and as far as there is room: what to type, and which key confirms. */
function Prompt({ label, example, keys, typed, show, width }: PromptProps) {
  const { ellipsis } = useGlyphs();
  // Show the end of the text, where typing continues.
  const text = [...show(typed.slice(-2 * width))].slice(-(width - label.length - 5)).join('');
  const room = width - label.length - widthOf(text) - 6;
  const whole = `${keys}: ${example}`;
  const help = example !== '' && (typed === '' || widthOf(whole) <= room) ? whole : keys;
  return (
    <Text wrap="truncate">
      <Text bold>{label}:</Text> {text}
      <Text inverse> </Text> <Text dimColor>{room < 12 ? '' : cutTo(show(help), room, ellipsis)}</Text>
    </Text>
  );
}

function Hints({ model, width }: { model: Browser; width: number }) {
  let left = width + 3;
  const hints = hintsFor(model).flatMap((hint) => {
    left -= hint.key.length + 1 + hint.text.length + 3;
    return left < 0 ? [] : [hint];
  });
  return (
    <Text wrap="truncate">
      {hints.map(({ key, text }, index) => (
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

import { Text } from 'ink';
import type { Browser } from '../browser.ts';
import { cutTo, steady } from '../cells.ts';
import { toAscii } from '../glyphs.ts';
import { bindingsFor } from '../keys.ts';
import { useGlyphs } from '../theme.ts';

/** The last line: a prompt, the last action, or the keys. */
export function Foot({ model, width }: { model: Browser; width: number }) {
  const { ellipsis } = useGlyphs();
  const { overlay, notice, start } = model;
  const show = (text: string) => (start.ascii ? toAscii(text) : steady(text, width));
  if (overlay?.type === 'prompt') {
    const label = overlay.purpose;
    // Show the end of the text, where typing continues.
    const typed = [...show(overlay.text.slice(-2 * width))].slice(-(width - label.length - 5)).join('');
    return (
      <Text wrap="truncate">
        <Text bold>{label}:</Text> {typed}
        <Text inverse> </Text>
      </Text>
    );
  }
  if (notice !== undefined) return <Text wrap="truncate">{cutTo(show(notice.text), width, ellipsis)}</Text>;
  return <Hints model={model} width={width} />;
}

function Hints({ model, width }: { model: Browser; width: number }) {
  let left = width + 3;
  const hints = bindingsFor(model.start).flatMap(({ shown, hint }) => {
    const key = shown.split(' ')[0] ?? '';
    if (hint === undefined) return [];
    left -= key.length + 1 + hint.length + 3;
    return left < 0 ? [] : [{ key, hint }];
  });
  return (
    <Text wrap="truncate">
      {hints.map(({ key, hint }, index) => (
        <Text key={hint}>
          {index === 0 ? '' : '   '}
          <Text bold>{key}</Text> <Text dimColor>{hint}</Text>
        </Text>
      ))}
    </Text>
  );
}

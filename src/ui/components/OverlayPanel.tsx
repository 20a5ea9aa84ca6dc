import { Box, Text } from 'ink';
import { type Browser, type Overlay, shownItems } from '../browser.ts';
import { cutTo, nearText, padTo, steady } from '../cells.ts';
import { heldCount, shownRows } from '../event-list.ts';
import { toAscii } from '../glyphs.ts';
import { bindingsFor } from '../keys.ts';
import { useGlyphs } from '../theme.ts';
import { Rule } from './Rule.tsx';

interface ListPanelProps {
  model: Browser;
  width: number;
  /** Lines below the heading. */
  lines: number;
}

/** A panel in place of the events. */
export function OverlayPanel({ model, width, lines }: ListPanelProps) {
  const { overlay } = model;
  switch (overlay?.type) {
    case 'help':
      return <HelpLines model={model} top={overlay.top} width={width} lines={lines} />;
    case 'choice':
      return <ChoiceLines model={model} choice={overlay} width={width} lines={lines} />;
    case 'detail':
      return <DetailLines model={model} detail={overlay} width={width} lines={lines} />;
    default:
      return null;
  }
}

/** Longer than any line can show of a filter. */
const filterCells = 200;

/** The number of events, and which ones are shown. */
export function listNote({ list, start }: Browser): string {
  const all = list.rows.length;
  const filter = start.ascii ? toAscii(list.filter) : steady(list.filter, filterCells);
  const count =
    list.filter === '' ? String(all) : `${shownRows({ ...list }).length} of ${all} with ${filter}`;
  if (list.heldAfter !== undefined) return `${count}, paused, ${heldCount(list)} more`;
  return list.marked === undefined ? `${count}, following` : count;
}

function DetailLines({
  model,
  detail,
  width,
  lines,
}: ListPanelProps & { detail: Overlay & { type: 'detail' } }) {
  const { ellipsis } = useGlyphs();
  const { title, top } = detail;
  const show = (text: string) =>
    cutTo(model.start.ascii ? toAscii(nearText(text, width)) : steady(text, width), width - 1, ellipsis);
  const shown = detail.lines.slice(top, top + lines);
  const note =
    detail.lines.length > lines ? `${top + 1} to ${top + shown.length} of ${detail.lines.length} lines` : '';
  return (
    <Box flexDirection="column">
      <Rule title={show(title)} note={`${note}${note === '' ? '' : ', '}esc closes`} width={width} />
      {shown.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
        <Text key={index} wrap="truncate">
          {' '}
          {show(line)}
        </Text>
      ))}
    </Box>
  );
}

function ChoiceLines({
  model,
  choice,
  width,
  lines,
}: ListPanelProps & { choice: Overlay & { type: 'choice' } }) {
  const { ellipsis, cursor } = useGlyphs();
  const { at, title } = choice;
  const items = shownItems(choice);
  const top = Math.min(Math.max(0, items.length - lines), Math.max(0, at - Math.floor(lines / 2)));
  const show = (text: string) => (model.start.ascii ? toAscii(text) : steady(text, width));
  return (
    <Box flexDirection="column">
      <Rule title={title} note={noteOf(choice, items.length)} width={width} />
      {items.slice(top, top + lines).map(({ value, help, clears }, index) => (
        <Text key={clears ?? value} wrap="truncate" inverse={top + index === at}>
          {top + index === at ? cursor : ' '}
          <Text bold>{padTo(show(value), 22, ellipsis)}</Text> {padTo(show(help), width - 24, ellipsis)}
        </Text>
      ))}
    </Box>
  );
}

function noteOf({ items, filter, at }: Overlay & { type: 'choice' }, shown: number): string {
  if (filter === '') return `${at + 1} of ${shown}`;
  return shown === 0 ? `none of ${items.length} with ${filter}` : `${at + 1} of ${shown} with ${filter}`;
}

function HelpLines({ model, top, width, lines }: ListPanelProps & { top: number }) {
  const { ellipsis } = useGlyphs();
  const bindings = bindingsFor(model.start);
  const shown = bindings.slice(top, top + lines);
  const note = bindings.length > lines ? `${top + 1} to ${top + shown.length} of ${bindings.length}` : '';
  return (
    <Box flexDirection="column">
      <Rule title="keys" note={`${note}${note === '' ? '' : ', '}esc closes`} width={width} />
      {shown.map(({ command, shown: keys, help }) => (
        <Text key={command} wrap="truncate">
          {' '}
          <Text bold>{padTo(keys, 8)}</Text> {cutTo(help, width - 10, ellipsis)}
        </Text>
      ))}
    </Box>
  );
}

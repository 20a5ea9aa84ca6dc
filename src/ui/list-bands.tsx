import { Box, Text } from 'ink';
import type { ReactNode } from 'react';
import { timeText } from '../report/event-words.ts';
import { type Browser, type Overlay, shownItems } from './browser.ts';
import { cutNameTo, cutTo, padTo, widthOf } from './cells.ts';
import { Divider, shownNote } from './components/Rule.tsx';
import { heldCount, type Row, rowsInView, shownRows } from './event-list.ts';
import { glyphsFor, legendFor } from './glyphs.ts';
import { bindingsFor } from './keys.ts';
import { type Band, emptyBand, firstShown } from './layout.ts';
import { colours, inkOf, useGlyphs } from './theme.ts';

interface ListOptions {
  title: string;
  /** Beside the title. Default: how many events there are, and which ones are shown. */
  note?: string;
  width: number;
  /** Lines below the heading. */
  lines: number;
  isFocused?: boolean;
  /** Draws a row; default: as an event. */
  drawRow?: (row: Row, isMarked: boolean) => ReactNode;
}

/** The events, or a panel in their place. Each event is a band, so it is drawn once and then only moves. */
export function listBands(model: Browser, { title, width, lines, ...options }: ListOptions): Band[] {
  const { overlay, list, start } = model;
  if (overlay !== undefined && overlay.type !== 'prompt' && overlay.type !== 'confirm') {
    const draw = () => <OverlayPanel model={model} width={width} lines={lines} />;
    return [{ name: 'overlay', lines: 1 + lines, on: [overlay], draw }];
  }
  const rows = rowsInView(list, lines);
  const note = options.note ?? listNote(model);
  const isServe = start.screen === 'serve';
  const drawEvent = (row: Row, isMarked: boolean) => (
    <EventLine row={row} isMarked={isMarked} width={width} hasWho={isServe} />
  );
  return [
    {
      name: 'list heading',
      lines: 1,
      on: [note, options.isFocused],
      draw: () => <Divider title={title} note={note} width={width} isFocused={options.isFocused === true} />,
    },
    ...rows.map((row): Band => {
      const isMarked = row.id === list.marked;
      const draw = () => options.drawRow?.(row, isMarked) ?? drawEvent(row, isMarked);
      return { name: `event ${row.id}`, lines: 1, on: [row, isMarked], draw };
    }),
    emptyBand('below events', lines - rows.length),
  ];
}

interface EventLineProps {
  row: Row;
  isMarked: boolean;
  width: number;
  /** Whether the line names stream and device. */
  hasWho: boolean;
}

/** An event in the list on one line: time, origin, subject and text. */
function EventLine({ row, isMarked, width, hasWho }: EventLineProps) {
  const glyphs = useGlyphs();
  const kindWidth = hasWho ? (width < 100 ? 10 : 23) : width < 70 ? 12 : width < 100 ? 18 : 23;
  const { show } = glyphs;
  const time = timeText(row.t);
  const whoWidth = hasWho ? (width < 70 ? 6 : width < 100 ? 20 : 28) : 0;
  const isMild = row.level === 'info';
  const kind = padTo(show(row.subject, kindWidth), kindWidth);
  const textWidth = width - kindWidth - whoWidth - 16;
  const whole = show(row.text, textWidth);
  const isShort = row.short !== undefined && widthOf(whole) > textWidth;
  const text = cutTo(isShort ? show(row.short ?? '', textWidth) : whole, textWidth);
  const colour = row.level === 'error' ? colours.bad : colours.warning;
  const voice = { device: colours.you, service: colours.ai, self: undefined }[row.from];
  return (
    <Text wrap="truncate" inverse={isMarked}>
      {isMarked ? glyphs.cursor : ' '}
      <Text dimColor={!isMarked}>{time}</Text> <Text {...inkOf(voice)}>{glyphs[row.from]}</Text>{' '}
      {isMild ? (
        ' '
      ) : (
        <Text color={colour} bold>
          !
        </Text>
      )}{' '}
      {hasWho && (
        <Text dimColor={!isMarked}>{padTo(show(whoText(row, whoWidth - 1), whoWidth), whoWidth - 1)} </Text>
      )}
      <Text bold={!isMild}>{kind}</Text>{' '}
      {row.level === 'error' ? (
        <Text color={colour}>{text}</Text>
      ) : (
        <Text dimColor={row.subject === 'audio'}>{text}</Text>
      )}
    </Text>
  );
}

/** The number of the stream, and, if they fit, the side (in a proxy) and the device. */
function whoText({ stream, side, device }: Row, width: number): string {
  const number = (stream === undefined ? '' : String(stream)).padStart(4);
  if (width < 10 || device === undefined) return number;
  const whole = `${number} ${side} ${device}`;
  if (side !== undefined && widthOf(whole) <= width) return whole;
  return `${number} ${cutNameTo(device, width - widthOf(number) - 1)}`;
}

interface ListPanelProps {
  model: Browser;
  width: number;
  /** Lines below the heading. */
  lines: number;
}

/** A panel in place of the events. */
function OverlayPanel({ model, width, lines }: ListPanelProps) {
  const { overlay } = model;
  switch (overlay?.type) {
    case 'help':
      return <HelpLines model={model} top={overlay.top} width={width} lines={lines} />;
    case 'choice':
      return <ChoiceLines choice={overlay} width={width} lines={lines} />;
    case 'detail':
      return <DetailLines detail={overlay} width={width} lines={lines} />;
    default:
      return null;
  }
}

/** More of a filter than any line can show. */
const filterCells = 200;

/** The number of events, and which ones are shown. */
function listNote({ list, start }: Browser): string {
  const all = list.rows.length;
  const filter = glyphsFor(start.ascii).show(list.filter, filterCells);
  const count =
    list.filter === '' ? String(all) : `${shownRows({ ...list }).length} of ${all} with ${filter}`;
  if (list.heldAfter !== undefined) return `${count}, paused, ${heldCount(list)} more`;
  return list.marked === undefined ? `${count}, following` : count;
}

/** Which lines are shown, if not all are, and the key that closes them. */
function closeNote(top: number, shown: number, all: number): string {
  return shown === all ? 'esc closes' : `${shownNote(top, shown, all)}, esc closes`;
}

function DetailLines({
  detail,
  width,
  lines,
}: Omit<ListPanelProps, 'model'> & { detail: Overlay & { type: 'detail' } }) {
  const glyphs = useGlyphs();
  const { title, top } = detail;
  const show = (text: string) => cutTo(glyphs.show(text, width), width - 1);
  const shown = detail.lines.slice(top, top + lines);
  return (
    <Box flexDirection="column">
      <Divider title={show(title)} note={closeNote(top, shown.length, detail.lines.length)} width={width} />
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
  choice,
  width,
  lines,
}: Omit<ListPanelProps, 'model'> & { choice: Overlay & { type: 'choice' } }) {
  const { cursor, show } = useGlyphs();
  const { at, title } = choice;
  const items = shownItems(choice);
  const top = firstShown(at, lines, items.length);
  return (
    <Box flexDirection="column">
      <Divider title={title} note={noteOf(choice, items.length)} width={width} />
      {items.slice(top, top + lines).map(({ value, help, clears }, index) => (
        <Text key={clears ?? value} wrap="truncate" inverse={top + index === at}>
          {top + index === at ? cursor : ' '}
          <Text bold>{padTo(show(value, 22), 22)}</Text> {padTo(show(help, width), width - 24)}
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
  const rows = [
    ...bindingsFor(model.start),
    ...legendFor(model.start).map(({ sign, help }) => ({ command: help, shown: sign, help })),
  ];
  const shown = rows.slice(top, top + lines);
  return (
    <Box flexDirection="column">
      <Divider title="keys" note={closeNote(top, shown.length, rows.length)} width={width} />
      {shown.map(({ command, shown: keys, help }) => (
        <Text key={command} wrap="truncate">
          {' '}
          <Text bold>{padTo(keys, 8)}</Text> {cutTo(help, width - 10)}
        </Text>
      ))}
    </Box>
  );
}

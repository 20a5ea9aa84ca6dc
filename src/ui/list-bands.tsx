import { Text } from 'ink';
import type { ReactNode } from 'react';
import { type Band, space } from './bands.ts';
import type { Browser } from './browser.ts';
import { cutTo, nearText, padTo, steady } from './cells.ts';
import { listNote, OverlayPanel } from './components/OverlayPanel.tsx';
import { Rule } from './components/Rule.tsx';
import { type Row, rowsInView } from './event-list.ts';
import { toAscii } from './glyphs.ts';
import { colours, useGlyphs } from './theme.ts';

interface ListOptions {
  title: string;
  /** Beside the title; default: how many events there are, and which are shown. */
  note?: string;
  width: number;
  /** Lines below the heading. */
  lines: number;
  isFocused?: boolean;
  /** Draws a row; default: as an event. */
  drawRow?: (row: Row, isMarked: boolean) => ReactNode;
}

/** The events, or a panel in their place. Each event is a band: it is drawn once and then only moves. */
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
    <EventLine row={row} isMarked={isMarked} width={width} isAscii={start.ascii} hasWho={isServe} />
  );
  return [
    {
      name: 'list heading',
      lines: 1,
      on: [note, options.isFocused],
      draw: () => <Rule title={title} note={note} width={width} isFocused={options.isFocused === true} />,
    },
    ...rows.map((row): Band => {
      const isMarked = row.id === list.marked;
      const draw = () => options.drawRow?.(row, isMarked) ?? drawEvent(row, isMarked);
      return { name: `event ${row.id}`, lines: 1, on: [row, isMarked], draw };
    }),
    ...(rows.length < lines ? [space('below events', lines - rows.length)] : []),
  ];
}

interface EventLineProps {
  row: Row;
  isMarked: boolean;
  width: number;
  isAscii: boolean;
  /** Whether lines name stream and device. */
  hasWho: boolean;
}

/** An event in the list on one line: time, origin, subject and text. */
function EventLine({ row, isMarked, width, isAscii, hasWho }: EventLineProps) {
  const glyphs = useGlyphs();
  const kindWidth = hasWho ? (width < 100 ? 10 : 23) : width < 70 ? 12 : width < 100 ? 18 : 23;
  const show = (text: string, cells: number) =>
    isAscii ? toAscii(nearText(text, cells)) : steady(text, cells);
  const time = (row.t / 1000).toFixed(3).padStart(8);
  const whoWidth = hasWho ? (width < 70 ? 6 : width < 100 ? 18 : 28) : 0;
  const isMild = row.level === 'info';
  const kind = padTo(show(row.subject, kindWidth), kindWidth, glyphs.ellipsis);
  const textWidth = width - kindWidth - whoWidth - 16;
  const text = cutTo(show(row.text, textWidth), textWidth, glyphs.ellipsis);
  const origin = glyphs[row.from];
  const colour = row.level === 'error' ? colours.bad : colours.warning;
  const voice = row.from === 'device' ? colours.you : colours.ai;
  return (
    <Text wrap="truncate" inverse={isMarked}>
      {isMarked ? glyphs.cursor : ' '}
      <Text dimColor={!isMarked}>{time}</Text>{' '}
      {row.from === 'self' ? <Text dimColor>{origin}</Text> : <Text color={voice}>{origin}</Text>}{' '}
      {isMild ? (
        ' '
      ) : (
        <Text color={colour} bold>
          !
        </Text>
      )}{' '}
      {hasWho && (
        <Text dimColor={!isMarked}>
          {padTo(show(whoText(row, whoWidth), whoWidth), whoWidth, glyphs.ellipsis)}
        </Text>
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

/** The number of the stream, and the device if it fits. */
function whoText({ stream, device }: Row, width: number): string {
  const number = (stream === undefined ? '' : String(stream)).padStart(4);
  return width < 10 || device === undefined ? number : `${number} ${device}`;
}

import type { ReactNode } from 'react';
import { type Band, space } from './bands.ts';
import type { Browser } from './browser.ts';
import { EventLine } from './components/EventLine.tsx';
import { listNote, OverlayPanel } from './components/OverlayPanel.tsx';
import { Rule } from './components/Rule.tsx';
import { type Row, rowsInView } from './event-list.ts';

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

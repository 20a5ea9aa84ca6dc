import { Text } from 'ink';
import { type Band, space } from './bands.ts';
import { cutTo, steady } from './cells.ts';
import { AmountBars } from './components/AmountBars.tsx';
import { Head } from './components/Head.tsx';
import { SeenLines } from './components/SeenLines.tsx';
import { VerdictCounts } from './components/VerdictCounts.tsx';
import { idColumns, VerdictLine } from './components/VerdictLine.tsx';
import { markedRow } from './event-list.ts';
import { footBand } from './foot-band.tsx';
import { toAscii } from './glyphs.ts';
import { layoutVerdicts, type Size } from './layout.ts';
import { listBands } from './list-bands.tsx';
import { useGlyphs } from './theme.ts';
import type { VerdictModel } from './verdict-model.ts';

/** A screen of verdicts, from top to bottom. */
export function verdictBands(model: VerdictModel, terminal: Size): Band[] {
  const { columns, doing, amountLines, counts, seenLines, spaces, listLines } = layoutVerdicts(terminal);
  const { start, now, items, amounts, ended, what, list } = model;
  const marked = markedRow(list);
  const item = marked === undefined ? undefined : items[marked.id];
  const idWidth = idColumns(items);
  return [
    {
      name: 'head',
      lines: 1,
      on: [Math.floor((ended?.at ?? now) / 100), ended, model.doing, model.isEnding],
      draw: () => <VerdictHead model={model} width={columns} />,
    },
    ...(doing
      ? [
          {
            name: 'doing',
            lines: 1,
            on: [model.doing, Math.ceil(now / 1000), ended],
            draw: () => <DoingLine model={model} width={columns} />,
          },
        ]
      : []),
    {
      name: 'amounts',
      lines: amountLines,
      on: [amounts],
      draw: () => <AmountBars amounts={amounts} width={columns} lines={amountLines} />,
    },
    ...(counts
      ? [{ name: 'counts', lines: 1, on: [items], draw: () => <VerdictCounts items={items} /> }]
      : []),
    ...(spaces ? [space('above list', 1)] : []),
    ...listBands(model, {
      title: what,
      width: columns,
      lines: listLines,
      ...(list.filter === '' ? { note: `${judgedCount(model)} of ${items.length}` } : {}),
      drawRow: (row, isMarked) => {
        const shown = items[row.id];
        if (shown === undefined) return '';
        return (
          <VerdictLine
            item={shown}
            idWidth={idWidth}
            isMarked={isMarked}
            width={columns}
            isAscii={start.ascii}
          />
        );
      },
    }),
    ...(seenLines > 0
      ? [
          {
            name: 'seen',
            lines: 1 + seenLines,
            on: [item],
            draw: () => <SeenLines item={item} width={columns} isAscii={start.ascii} />,
          },
        ]
      : []),
    footBand(model, columns),
  ];
}

function judgedCount({ items }: VerdictModel): number {
  return items.filter(({ verdict }) => verdict !== undefined).length;
}

function VerdictHead({ model, width }: { model: VerdictModel; width: number }) {
  const { start, ended, doing, isEnding, now } = model;
  const isWaiting = doing.until !== undefined;
  return (
    <Head
      command={start.screen}
      subject={start.subject}
      state={ended?.text ?? (isEnding ? 'ending' : isWaiting ? 'waiting' : 'asking')}
      stateKind={
        ended === undefined ? (isWaiting || isEnding ? 'pending' : 'live') : ended.ok ? 'done' : 'failed'
      }
      elapsedMs={ended?.at ?? now}
      width={width}
      isAscii={start.ascii}
    />
  );
}

/** What is being done now, and for how long. */
function DoingLine({ model, width }: { model: VerdictModel; width: number }) {
  const { ellipsis } = useGlyphs();
  const { doing, ended, now, start } = model;
  const leftMs = doing.until === undefined ? undefined : Math.max(0, doing.until - now);
  const left = leftMs === undefined ? '' : ` ${Math.ceil(leftMs / 1000)} s`;
  const text = ended === undefined ? `${doing.text}${left}` : ended.text;
  return (
    <Text wrap="truncate">
      <Text dimColor>now</Text>{' '}
      {cutTo(start.ascii ? toAscii(text) : steady(text, width), width - 4, ellipsis)}
    </Text>
  );
}

import { Box, Text } from 'ink';
import { isCountShown } from '../report/verdict-lines.ts';
import { type Verdict, verdictNames } from '../rules/rule.ts';
import { cutTo, padTo, widthOf } from './cells.ts';
import { AmountBars } from './components/AmountBars.tsx';
import { CountLine } from './components/CountLine.tsx';
import { WatchedHead } from './components/Head.tsx';
import { Divider } from './components/Rule.tsx';
import { markedRow } from './event-list.ts';
import { footBand } from './foot-band.tsx';
import type { Glyphs } from './glyphs.ts';
import { type Band, emptyBand, layoutVerdicts, type Size } from './layout.ts';
import { listBands } from './list-bands.tsx';
import { type Colour, colours, useGlyphs } from './theme.ts';
import type { JudgedItem, VerdictModel } from './verdict-model.ts';

/** A screen of verdicts, from top to bottom. */
export function verdictBands(model: VerdictModel, terminal: Size): Band[] {
  const layout = layoutVerdicts(terminal);
  const { columns, amountLines } = layout;
  const { now, items, amounts, ended, what, list } = model;
  const marked = markedRow(list);
  const item = marked === undefined ? undefined : items[marked.id];
  const idWidth = idColumns(items);
  return [
    {
      name: 'head',
      lines: 1,
      on: [Math.floor((ended?.at ?? now) / 100), ended, model.doing, model.isEnding],
      draw: () => (
        <WatchedHead
          model={model}
          doing="asking"
          isWaiting={model.doing.until !== undefined}
          width={columns}
        />
      ),
    },
    {
      name: 'doing',
      lines: layout.doingLines,
      on: [model.doing, Math.ceil(now / 1000), ended],
      draw: () => <DoingLine model={model} width={columns} />,
    },
    {
      name: 'amounts',
      lines: amountLines,
      on: [amounts],
      draw: () => <AmountBars amounts={amounts} width={columns} lines={amountLines} />,
    },
    {
      name: 'counts',
      lines: layout.countLines,
      on: [items],
      draw: () => <VerdictCounts items={items} width={columns} />,
    },
    emptyBand('above list', layout.spaceLines),
    ...listBands(model, {
      title: what,
      width: columns,
      lines: layout.listLines,
      ...(list.filter === '' ? { note: `${judgedCount(model)} of ${items.length}` } : {}),
      drawRow: (row, isMarked) => {
        const shown = items[row.id];
        if (shown === undefined) return '';
        return <VerdictLine item={shown} idWidth={idWidth} isMarked={isMarked} width={columns} />;
      },
    }),
    {
      name: 'seen',
      lines: layout.seenLines,
      on: [item],
      draw: () => <SeenLines item={item} width={columns} />,
    },
    footBand(model, columns),
  ];
}

function judgedCount({ items }: VerdictModel): number {
  return items.filter(({ verdict }) => verdict !== undefined).length;
}

/** What is being done now, and for how long. */
function DoingLine({ model, width }: { model: VerdictModel; width: number }) {
  const { show } = useGlyphs();
  const { doing, ended, now } = model;
  const leftMs = doing.until === undefined ? undefined : Math.max(0, doing.until - now);
  const left = leftMs === undefined ? '' : ` ${Math.ceil(leftMs / 1000)} s`;
  const text = ended === undefined ? `${doing.text}${left}` : ended.text;
  return (
    <Text wrap="truncate">
      <Text dimColor>now</Text> {cutTo(show(text, width), width - 4)}
    </Text>
  );
}

interface SeenLinesProps {
  item: JudgedItem | undefined;
  width: number;
}

/** What was seen of one item, in full if it fits. */
function SeenLines({ item, width }: SeenLinesProps) {
  const { show } = useGlyphs();
  const text = item?.message ?? '';
  return (
    <Box flexDirection="column" width={width}>
      <Divider title={item === undefined ? '' : `${item.id}: ${item.title}`} width={width} />
      <Text wrap="wrap">{show(text, 4 * width)}</Text>
    </Box>
  );
}

const verdicts = [...verdictNames, undefined] as const;

/** The count of each verdict, and how many items wait for theirs. */
function VerdictCounts({ items, width }: { items: readonly JudgedItem[]; width: number }) {
  const glyphs = useGlyphs();
  const counts = verdicts
    .map((verdict) => ({
      name: verdict ?? 'waiting',
      count: items.filter((item) => item.verdict === verdict).length,
      colour: verdictMark(verdict, glyphs).colour,
    }))
    .filter(({ name, count }) => isCountShown(name, count));
  return <CountLine counts={counts} width={width} />;
}

/** The width of the IDs in a list. */
function idColumns(items: readonly { id: string }[]): number {
  return Math.max(shortestIdWidth, ...items.map(({ id }) => id.length + 1));
}

interface VerdictLineProps {
  item: JudgedItem;
  idWidth: number;
  isMarked: boolean;
  width: number;
}

const shortestIdWidth = 5;
const verdictWidth = 9;
const longestTitle = 43;

/** An item in the list: its verdict, its name, and what was seen. */
function VerdictLine({ item, idWidth, isMarked, width }: VerdictLineProps) {
  const glyphs = useGlyphs();
  const { id, title, verdict, isFinal } = item;
  const show = (text: string) => glyphs.show(text, width);
  const { sign, colour } = verdictMark(verdict, glyphs);
  const room = width - 4 - idWidth - verdictWidth;
  const isLoud = verdict === 'fail' || verdict === 'warn';
  // The message says more than the title, which is also below the list.
  const isAlone = isLoud && widthOf(show(item.message)) > room - longestTitle - 1;
  const message = widthOf(show(item.message)) > room ? (item.advice ?? item.message) : item.message;
  const titleWidth = isAlone ? 0 : Math.min(room, longestTitle);
  const name = verdict === 'fail' && !isFinal ? 'fail?' : (verdict ?? '');
  return (
    <Text wrap="truncate" inverse={isMarked}>
      {isMarked ? glyphs.cursor : ' '}
      {colour === undefined ? <Text dimColor={!isMarked}>{sign}</Text> : <Text color={colour}>{sign}</Text>}{' '}
      {padTo(id, idWidth)}
      {isLoud && colour !== undefined ? (
        <Text color={colour} bold>
          {padTo(name, verdictWidth)}
        </Text>
      ) : (
        padTo(name, verdictWidth)
      )}
      {isAlone || (
        <Text dimColor={!isMarked && (verdict === undefined || verdict === 'skipped')}>
          {padTo(show(title), titleWidth)}{' '}
        </Text>
      )}
      <Text dimColor={!isMarked && !isLoud}>
        {cutTo(show(message), isAlone ? room : room - titleWidth - 1)}
      </Text>
    </Text>
  );
}

/** The sign of a verdict, and its colour, if it has one. */
function verdictMark(
  verdict: Verdict | undefined,
  { passed, failed, done, dash, dot }: Glyphs,
): { sign: string; colour?: Colour } {
  switch (verdict) {
    case 'pass':
      return { sign: passed, colour: colours.good };
    case 'fail':
      return { sign: failed, colour: colours.bad };
    case 'warn':
      return { sign: '!', colour: colours.warning };
    case 'observed':
      return { sign: done };
    case 'unknown':
      return { sign: '?', colour: colours.warning };
    case 'skipped':
      return { sign: dash };
    case undefined:
      return { sign: dot };
  }
}

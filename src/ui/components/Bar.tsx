import { Text } from 'ink';
import { type Colour, colours, inkOf, useGlyphs } from '../theme.ts';

interface BarProps {
  /** From 0 to 1. */
  value: number;
  width: number;
  colour: Colour;
  /** A mark at this part of the bar. */
  hold?: number | undefined;
  /** From here on the bar has another colour. */
  zones?: readonly { from: number; colour: Colour }[];
}

/** A bar of half cells, with zones and a mark. */
export function Bar({ value, width, colour, hold, zones = [] }: BarProps) {
  const { bar, halfBar, track, hold: holdMark } = useGlyphs();
  const halves = Math.round(Math.min(1, Math.max(0, value)) * width * 2);
  const held = hold === undefined || hold <= 0 ? -1 : Math.min(width - 1, Math.floor(hold * width));
  const cellOf = (index: number) =>
    index === held ? holdMark : index * 2 + 1 < halves ? bar : index * 2 < halves ? halfBar : track;
  const colourOf = (index: number) => {
    if (index !== held && index * 2 >= halves) return undefined;
    return zones.findLast(({ from }) => (index + 0.5) / width >= from)?.colour ?? colour;
  };
  return (
    <>
      {equalRuns(width, colourOf).map(({ from, until, value: run }) => {
        const text = Array.from({ length: until - from }, (_, index) => cellOf(from + index)).join('');
        return (
          <Text key={from} {...inkOf(run)}>
            {text}
          </Text>
        );
      })}
    </>
  );
}

/** The remaining share, as a bar that warns when it is low. */
export function LeftBar({ left, width }: { left: number; width: number }) {
  const colour = left > 0.25 ? colours.good : left > 0.1 ? colours.warning : colours.bad;
  return <Bar value={left} width={width} colour={colour} />;
}

/** Runs of equal values, so that a line consists of few pieces. */
export function equalRuns<Value>(length: number, readAt: (index: number) => Value) {
  const found: { from: number; until: number; value: Value }[] = [];
  for (let index = 0; index < length; index += 1) {
    const value = readAt(index);
    const last = found.at(-1);
    if (last !== undefined && last.value === value) last.until = index + 1;
    else found.push({ from: index, until: index + 1, value });
  }
  return found;
}

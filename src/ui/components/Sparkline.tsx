import { Text } from 'ink';
import { toColumns } from '../load-past.ts';
import { type Colour, useGlyphs } from '../theme.ts';

interface SparklineProps {
  values: readonly (number | undefined)[];
  /** In cells. More values than that share columns, and the highest counts. */
  width: number;
  colour: Colour;
}

/** Values over time, from 0 to the highest of them. A time without a value is a hole. */
export function Sparkline({ values, width, colour }: SparklineProps) {
  const { levels } = useGlyphs();
  const columns = toColumns(values, width);
  const most = Math.max(0, ...columns.map((value) => value ?? 0));
  const text = columns.map((value) => {
    if (value === undefined) return ' ';
    const level = most === 0 ? 0 : Math.ceil((value / most) * levels.length) - 1;
    return levels[Math.max(0, level)] ?? ' ';
  });
  return <Text color={colour}>{text.join('')}</Text>;
}

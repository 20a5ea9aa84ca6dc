import { Box, Text } from 'ink';
import { colours } from '../theme.ts';
import type { Amount } from '../verdict-model.ts';
import { Bar } from './Bar.tsx';

interface AmountBarsProps {
  amounts: readonly Amount[];
  width: number;
  lines: number;
}

const gap = 3;
const longestBar = 24;
const shortestBar = 4;

/** How much of each amount is used, as bars side by side. */
export function AmountBars({ amounts, width, lines }: AmountBarsProps) {
  const perLine = Math.max(1, Math.ceil(amounts.length / lines));
  return (
    <Box flexDirection="column">
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
        <AmountLine key={line} amounts={amounts.slice(line * perLine, (line + 1) * perLine)} width={width} />
      ))}
    </Box>
  );
}

function AmountLine({ amounts, width }: Omit<AmountBarsProps, 'lines'>) {
  const room = Math.floor((width - widthOfAll(amounts)) / Math.max(1, amounts.length));
  // If there is no room for all, the last ones are the most important.
  if (room < 0 && amounts.length > 1) return <AmountLine amounts={amounts.slice(1)} width={width} />;
  const bar = room <= shortestBar ? 0 : Math.min(longestBar, room - 1);
  return (
    <Text wrap="truncate">
      {amounts.map((amount, index) => (
        <Text key={amount.name}>
          {index === 0 ? '' : ' '.repeat(gap)}
          <Text dimColor>{amount.name}</Text>{' '}
          {bar > 0 && (
            <>
              <Bar value={amount.used / Math.max(1, amount.of)} width={bar} colour={colours.good} />{' '}
            </>
          )}
          <Text bold>{countOf(amount)}</Text>
        </Text>
      ))}
    </Text>
  );
}

function countOf({ used, of }: Amount): string {
  return `${String(used).padStart(String(of).length)} of ${of}`;
}

/** The width of all texts, without bars. */
function widthOfAll(amounts: readonly Amount[]): number {
  const texts = amounts.map((amount) => amount.name.length + 1 + countOf(amount).length);
  return texts.reduce((sum, text) => sum + text, gap * (amounts.length - 1));
}

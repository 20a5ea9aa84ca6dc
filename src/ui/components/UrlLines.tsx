import { Box, Text } from 'ink';
import { cutTo } from '../cells.ts';
import type { Addresses } from '../serve-model.ts';
import { useGlyphs } from '../theme.ts';

/** The addresses of the emulator, and a command to try. */
export function UrlLines({
  addresses,
  width,
  lines,
}: {
  /** Undefined until it listens. */
  addresses: Addresses | undefined;
  width: number;
  lines: number;
}) {
  const { ellipsis } = useGlyphs();
  const { tokenUrl, streamUrl, page, curl } = addresses ?? { tokenUrl: '', streamUrl: '', curl: '' };
  const rows: [label: string, text: string][] = [
    ['token', tokenUrl],
    ['stream', streamUrl],
    ...(page === undefined ? [] : [['page', page] satisfies [string, string]]),
    ['try', curl],
  ];
  return (
    <Box flexDirection="column">
      {rows.slice(0, lines).map(([label, text]) => (
        <Text key={label} wrap="truncate">
          <Text dimColor>{label.padEnd(7)}</Text>
          {cutTo(text, width - 7, ellipsis)}
        </Text>
      ))}
    </Box>
  );
}

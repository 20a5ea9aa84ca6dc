import { Box } from 'ink';
import { readMeter } from '../meter.ts';
import type { StreamModel } from '../stream-model.ts';
import { colours } from '../theme.ts';
import { LevelMeter, LevelScale } from './LevelMeter.tsx';
import { Rule } from './Rule.tsx';

/** Both meters; as a panel, also heading and scale. */
export function Levels({ model, width, isPanel }: { model: StreamModel; width: number; isPanel: boolean }) {
  const { meters, isMuted, isSpeaking, now } = model;
  const note = isMuted ? 'muted' : isSpeaking ? 'you speak' : '';
  return (
    <Box flexDirection="column" width={width}>
      {isPanel && <Rule title="levels" note={note} width={width} />}
      <LevelMeter
        label="you"
        reading={readMeter(meters.out, now)}
        colour={colours.you}
        width={width}
        instead={isMuted ? 'muted' : undefined}
      />
      <LevelMeter label="AI" reading={readMeter(meters.in, now)} colour={colours.ai} width={width} />
      {isPanel && <LevelScale width={width} />}
    </Box>
  );
}

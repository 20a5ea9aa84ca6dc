import { Text } from 'ink';
import type { Watched } from '../browser.ts';
import { padTo, widthOf } from '../cells.ts';
import { type Colour, colours, inkOf, useGlyphs } from '../theme.ts';

interface HeadProps {
  command: string;
  /** The subject; cut if it is too long. */
  subject: string;
  state: string;
  stateKind: 'pending' | 'live' | 'done' | 'failed';
  elapsedMs: number;
  width: number;
}

const stateColours: Record<HeadProps['stateKind'], Colour | undefined> = {
  pending: colours.warning,
  live: colours.good,
  done: undefined,
  failed: colours.bad,
};

/** The first line: program, subject, state and duration. */
export function Head({ command, subject, state, stateKind, elapsedMs, width }: HeadProps) {
  const glyphs = useGlyphs();
  const name = ` voicectl ${command} `;
  const mark = glyphs[stateKind];
  const end = `${mark} ${state}  ${durationText(elapsedMs)}`;
  const room = width - name.length - widthOf(end) - 3;
  return (
    <Text wrap="truncate">
      <Text bold inverse>
        {name}
      </Text>
      {'  '}
      {padTo(glyphs.show(subject, room), room)} <Text {...inkOf(stateColours[stateKind])}>{mark}</Text>{' '}
      <Text bold>{state}</Text>
      {'  '}
      {durationText(elapsedMs)}
    </Text>
  );
}

interface WatchedHeadProps {
  model: Watched;
  /** What is going on, in one word, while it is not waiting. */
  doing: string;
  isWaiting: boolean;
  /** When the time starts, in milliseconds on the axis of the events. */
  since?: number;
  width: number;
}

/** The first line of a screen of something that ends by itself. */
export function WatchedHead({ model, doing, isWaiting, since = 0, width }: WatchedHeadProps) {
  const { start, ended, isEnding, now } = model;
  const running = isWaiting || isEnding ? 'pending' : 'live';
  return (
    <Head
      command={start.screen}
      subject={start.subject}
      state={ended?.text ?? (isEnding ? 'ending' : isWaiting ? 'waiting' : doing)}
      stateKind={ended === undefined ? running : ended.ok ? 'done' : 'failed'}
      elapsedMs={Math.abs((ended?.at ?? now) - since)}
      width={width}
    />
  );
}

/** `00:07.4`; from one hour on, `1:02:07`. */
export function durationText(ms: number): string {
  const tenths = Math.floor(Math.max(0, ms) / 100);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const [seconds, minutes, hours] = [tenths / 10, tenths / 600, Math.floor(tenths / 36_000)];
  if (hours > 0) return `${hours}:${two(minutes % 60)}:${two(seconds % 60)}`;
  return `${two(minutes)}:${two(seconds % 60)}.${tenths % 10}`;
}

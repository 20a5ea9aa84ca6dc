import { Box, Text } from 'ink';
import type { ReactNode } from 'react';
import { escapeText } from '../kernel/escape.ts';
import { secondsText } from '../protocol/time-text.ts';
import type { SessionState } from '../session/events.ts';
import type { Figures, PlaybackFigures } from '../session/metrics.ts';
import { cutTo, fittingTexts, padStartTo } from './cells.ts';
import { LeftBar } from './components/Bar.tsx';
import { Head } from './components/Head.tsx';
import { LevelMeter, LevelScale } from './components/LevelMeter.tsx';
import { Divider } from './components/Rule.tsx';
import { TimelinePanel } from './components/Timeline.tsx';
import { footBand } from './foot-band.tsx';
import { type Band, emptyBand, layoutStream, type Size, splitColumns } from './layout.ts';
import { listBands } from './list-bands.tsx';
import { readMeter } from './meter.ts';
import type { ScreenStart } from './port.ts';
import type { StreamModel } from './stream-model.ts';
import { colours, useGlyphs } from './theme.ts';

/** The timeline moves in steps of this: finer ones would not be visible. */
const timelineStepMs = 200;

/** The screen of a session, from top to bottom. */
export function streamBands(model: StreamModel, terminal: Size): Band[] {
  const layout = layoutStream(terminal);
  const { columns, panelLines, voiceLines, figureLines, spaceLines } = layout;
  const { left, right, gap } = splitColumns(columns);
  const { start, now, wall, figures, summary, meters, marks, turns } = model;
  const moment = Math.floor((summary?.elapsedMs ?? now) / 100);
  const views = figureViews(figures, start.limits);
  return [
    {
      name: 'head',
      lines: 1,
      on: [moment, model.session, model.state, summary, model.isEnding],
      draw: () => <StreamHead model={model} width={columns} />,
    },
    {
      name: 'steps',
      lines: layout.stepLines,
      on: [model.state],
      draw: () => <Steps state={model.state} width={columns} />,
    },
    emptyBand('above panels', spaceLines),
    {
      name: 'panels',
      lines: layout.levelLines,
      on: [meters, now, model.isMuted, model.isSpeaking, model.token, Math.ceil(wall / 1000)],
      draw: () =>
        layout.hasPanels ? (
          <Box columnGap={gap}>
            <TokenPanel model={model} width={left} lines={panelLines} />
            <Levels model={model} width={right} isPanel />
          </Box>
        ) : (
          <Levels model={model} width={columns} isPanel={false} />
        ),
    },
    emptyBand('above timeline', spaceLines),
    {
      name: 'timeline',
      lines: layout.timelineLines,
      on: [marks, turns, Math.floor((summary?.t ?? now) / timelineStepMs)],
      draw: () => (
        <TimelinePanel
          model={model}
          width={columns}
          voiceLines={voiceLines}
          hasBoth={layout.hasBoth}
          hasAxis={layout.hasAxis}
        />
      ),
    },
    emptyBand('above figures', spaceLines),
    {
      name: 'figures',
      lines: figureLines,
      on: [figures, summary],
      draw: () => <FigureLines views={views} lines={figureLines} width={columns} />,
    },
    emptyBand('above list', spaceLines),
    ...listBands(model, { title: 'events', width: columns, lines: layout.listLines }),
    footBand(model, columns),
  ];
}

function StreamHead({ model, width }: { model: StreamModel; width: number }) {
  const { session, state, summary, start, isEnding, now } = model;
  const subject =
    session === undefined
      ? start.subject
      : `${escapeText(session.source)} as ${escapeText(session.device)} to ${escapeText(session.wsUrl)}`;
  const isOver = summary !== undefined;
  const text = isOver ? (summary.ok ? 'closed, ok' : 'closed, failed') : (state ?? 'starting');
  const stateKind = isOver
    ? summary.ok
      ? 'done'
      : 'failed'
    : state === 'live' || state === 'draining'
      ? 'live'
      : 'pending';
  return (
    <Head
      command="stream"
      subject={subject}
      state={isEnding && !isOver ? `${text}, ending` : text}
      stateKind={stateKind}
      elapsedMs={summary?.elapsedMs ?? now}
      width={width}
    />
  );
}

/** The figures on one or two lines; a figure past its limit is red and marked. */
function FigureLines({
  views,
  lines,
  width,
}: {
  views: readonly FigureView[];
  lines: number;
  width: number;
}) {
  const { show } = useGlyphs();
  const perLine = Math.ceil(views.length / lines);
  return (
    <Box flexDirection="column">
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
        <Text key={line} wrap="truncate">
          {views.slice(line * perLine, (line + 1) * perLine).map(({ name, text, isPast }, index) => (
            <Text key={name}>
              {index === 0 ? '' : '  '}
              <Text dimColor>{name}</Text>{' '}
              {isPast ? (
                <Text color={colours.bad} bold>
                  {show(text, width)}!
                </Text>
              ) : (
                <Text bold>{show(text, width)}</Text>
              )}
            </Text>
          ))}
        </Text>
      ))}
    </Box>
  );
}

/** Both meters; as a panel, also heading and scale. */
function Levels({ model, width, isPanel }: { model: StreamModel; width: number; isPanel: boolean }) {
  const { meters, isMuted, isSpeaking, now } = model;
  const note = isMuted ? 'muted' : isSpeaking ? 'you speak' : '';
  return (
    <Box flexDirection="column" width={width}>
      {isPanel && <Divider title="levels" note={note} width={width} />}
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

const steps: readonly SessionState[] = ['token', 'connecting', 'authorising', 'live', 'draining', 'closed'];

/** The steps of a session, with the current one marked; if there is no room for all, without the first ones. */
function Steps({ state, width }: { state: SessionState | undefined; width: number }) {
  const { next, passed } = useGlyphs();
  const at = state === undefined ? -1 : steps.indexOf(state);
  const texts = steps.map((step, index) => (index < at ? `${step} ${passed}` : step));
  const most = texts.findIndex(
    (_, index) => fittingTexts(texts.slice(index), width).length === texts.length - index,
  );
  const first = Math.min(most, Math.max(0, at));
  return (
    <Text wrap="truncate">
      {texts.slice(first).map((text, offset) => (
        <Text key={text}>
          {offset === 0 ? '' : <Text dimColor>{` ${next} `}</Text>}
          {first + offset === at ? (
            <Text bold underline>
              {text}
            </Text>
          ) : (
            <Text dimColor>{text}</Text>
          )}
        </Text>
      ))}
    </Text>
  );
}

/** The claims of the token, its remaining lifetime, and the remaining requests. */
function TokenPanel({ model, width, lines }: { model: StreamModel; width: number; lines: number }) {
  const { token, wall } = model;
  const { dash, show } = useGlyphs();
  const claims = token?.claims ?? {};
  const claim = (name: string) =>
    claims[name] === undefined ? dash : show(escapeText(String(claims[name])), width);
  const limit = token?.rateLimit;
  const answered = token?.ms === undefined ? '' : `received in ${Math.round(token.ms)} ms`;
  return (
    <Box flexDirection="column" width={width}>
      <Divider title="token" note={answered} width={width} />
      <Text wrap="truncate">
        {cutTo(`sub ${claim('sub')}  aud ${claim('aud')}  iss ${claim('iss')}`, width)}
      </Text>
      <Share
        label="valid"
        width={width}
        share={lifeLeft(claims, wall)}
        say={({ left, whole }) => `${seconds(left)} of ${seconds(whole)}`}
      />
      <Share
        label="limit"
        width={width}
        share={
          limit?.remaining === undefined || !limit.limit
            ? undefined
            : { left: limit.remaining, whole: limit.limit }
        }
        say={({ left, whole }) => `${left} of ${whole}${resetText(limit?.resetAtMs, wall, width >= 60)}`}
      />
      {lines > 3 && (
        <Text dimColor wrap="truncate">
          {cutTo(`iat ${clockText(claims.iat)}  exp ${clockText(claims.exp)}  jti ${claim('jti')}`, width)}
        </Text>
      )}
    </Box>
  );
}

interface Part {
  left: number;
  whole: number;
}

interface ShareProps {
  label: string;
  width: number;
  /** Undefined if unknown. */
  share: Part | undefined;
  say: (share: Part) => string;
}

function Share({ label, width, share, say }: ShareProps): ReactNode {
  const { dash } = useGlyphs();
  const sayWidth = width >= 60 ? 26 : 16;
  const barWidth = Math.max(4, width - sayWidth - 7);
  if (share === undefined) {
    return (
      <Text dimColor wrap="truncate">
        {label} {dash}
      </Text>
    );
  }
  return (
    <Text wrap="truncate">
      {label} <LeftBar left={share.left / share.whole} width={barWidth} />
      {padStartTo(say(share), sayWidth)}
    </Text>
  );
}

/** Remaining lifetime of a token by its claims; undefined without them. */
function lifeLeft({ iat, exp }: Record<string, unknown>, wall: number): Part | undefined {
  if (typeof exp !== 'number' || typeof iat !== 'number' || exp <= iat) return undefined;
  const whole = (exp - iat) * 1000;
  return { left: Math.min(whole, Math.max(0, exp * 1000 - wall)), whole };
}

function resetText(resetAtMs: number | undefined, wall: number, isRoomy: boolean): string {
  if (resetAtMs === undefined || resetAtMs <= wall) return '';
  return `${isRoomy ? ', resets in ' : ', '}${seconds(resetAtMs - wall)}`;
}

function seconds(ms: number): string {
  return secondsText(Math.ceil(ms / 1000) * 1000, 0);
}

/** The UTC time of day of a numeric claim. */
function clockText(claim: unknown): string {
  const date = typeof claim === 'number' ? new Date(claim * 1000) : undefined;
  return date === undefined || Number.isNaN(date.getTime()) ? '?' : date.toISOString().slice(11, 19);
}

/** A measured value as text, and whether it is past its limit. */
interface FigureView {
  name: string;
  text: string;
  isPast: boolean;
}

/** Default limits. */
const defaults = {
  firstAudioMs: 1_500,
  gapMs: 250,
  jitterMs: 40,
  latenessMs: 20,
  underruns: 0,
  playbackDelayMs: 250,
};

/** The figures of a session; jitter and lateness are 95th percentiles. `underruns`: undefined without playback. */
function figureViews(
  figures: (Figures & Partial<PlaybackFigures>) | undefined,
  limits: ScreenStart['limits'],
): FigureView[] {
  const view = (name: string, value: number | null | undefined, limit: number, unit = ' ms'): FigureView => ({
    name,
    text: value === null || value === undefined ? '–' : `${value < 10 ? value : Math.round(value)}${unit}`,
    isPast: typeof value === 'number' && value > limit,
  });
  return [
    view('first audio', figures?.firstAudioMs, limits?.firstAudioMs ?? defaults.firstAudioMs),
    view('gap', figures?.longestGapMs, limits?.gapMs ?? defaults.gapMs),
    view('jitter', figures?.jitterMs?.p95, limits?.jitterMs ?? defaults.jitterMs),
    view('underruns', figures?.underruns, defaults.underruns, ''),
    ...(typeof figures?.playbackDelayMs === 'number'
      ? [view('heard after', figures.playbackDelayMs, defaults.playbackDelayMs)]
      : []),
    view('sent late', figures?.sendLatenessMs?.p95, defaults.latenessMs),
  ];
}

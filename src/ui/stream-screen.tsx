import { Box } from 'ink';
import { escapeText } from '../kernel/escape.ts';
import { type Band, space } from './bands.ts';
import { FigureLines } from './components/FigureLines.tsx';
import { Head } from './components/Head.tsx';
import { Levels } from './components/Levels.tsx';
import { Steps } from './components/Steps.tsx';
import { Timeline } from './components/Timeline.tsx';
import { TokenPanel } from './components/TokenPanel.tsx';
import { figureViews } from './figures.ts';
import { footBand } from './foot-band.tsx';
import { halves, layoutStream, type Size } from './layout.ts';
import { listBands } from './list-bands.tsx';
import type { StreamModel } from './stream-model.ts';

/** The timeline moves in steps of this: finer ones would not be visible. */
const timelineStepMs = 200;

/** The screen of a session, from top to bottom. */
export function streamBands(model: StreamModel, terminal: Size): Band[] {
  const layout = layoutStream(terminal);
  const { columns, panelLines, voiceLines, axis, figureLines, listLines } = layout;
  const { left, right, gap } = halves(columns);
  const { start, now, wall, figures, summary, meters, marks } = model;
  const moment = Math.floor((summary?.elapsedMs ?? now) / 100);
  const views = figureViews(figures, start.limits);
  return [
    {
      name: 'head',
      lines: 1,
      on: [moment, model.session, model.state, summary, model.isEnding],
      draw: () => <StreamHead model={model} width={columns} />,
    },
    ...(layout.steps
      ? [{ name: 'steps', lines: 1, on: [model.state], draw: () => <Steps state={model.state} /> }]
      : []),
    ...(layout.spaces ? [space('above panels', 1)] : []),
    {
      name: 'panels',
      lines: layout.panels ? 1 + panelLines : 2,
      on: [meters, now, model.isMuted, model.isSpeaking, model.token, Math.ceil(wall / 1000)],
      draw: () =>
        layout.panels ? (
          <Box columnGap={gap}>
            <TokenPanel model={model} width={left} lines={panelLines} />
            <Levels model={model} width={right} isPanel />
          </Box>
        ) : (
          <Levels model={model} width={columns} isPanel={false} />
        ),
    },
    ...(layout.spaces ? [space('above timeline', 1)] : []),
    {
      name: 'timeline',
      lines: 2 * voiceLines + (axis ? 2 : 0),
      on: [marks, Math.floor((summary?.t ?? now) / timelineStepMs)],
      draw: () => <Timeline model={model} width={columns} voiceLines={voiceLines} hasAxis={axis} />,
    },
    ...(layout.spaces ? [space('above figures', 1)] : []),
    {
      name: 'figures',
      lines: figureLines,
      on: [figures, summary],
      draw: () => <FigureLines views={views} lines={figureLines} isAscii={start.ascii} />,
    },
    ...(layout.spaces ? [space('above list', 1)] : []),
    ...listBands(model, { title: 'events', width: columns, lines: listLines }),
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
      isAscii={start.ascii}
    />
  );
}

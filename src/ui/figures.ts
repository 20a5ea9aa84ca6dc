import type { Figures, PlaybackFigures } from '../session/metrics.ts';
import type { ScreenStart } from './port.ts';

/** A measured value as text, and whether it is past its limit. */
export interface FigureView {
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

/** The figures of a session; jitter and lateness are those of the worst frame in twenty. `underruns`: undefined without playback. */
export function figureViews(
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
    view('under-runs', figures?.underruns, defaults.underruns, ''),
    ...(typeof figures?.playbackDelayMs === 'number'
      ? [view('heard after', figures.playbackDelayMs, defaults.playbackDelayMs)]
      : []),
    view('sent late', figures?.sendLatenessMs?.p95, defaults.latenessMs),
  ];
}

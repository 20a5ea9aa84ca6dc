import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { RecordingView } from '../../view-data.ts';
import { peaksOfSamples } from '../picture/peaks.ts';
import { placeTimeText } from '../picture/places.ts';
import { createScroller, describeMoment, describePoint, type Scroller } from '../picture/scroller.ts';
import type { Player } from './player.ts';
import type { Heard, Voices } from './voices.ts';

interface PanelProps {
  data: RecordingView;
  voices: Voices;
  player: Player;
}

/** The picture of a finished session, and its player. */
export function PlayerPanel({ data, voices, player }: PanelProps) {
  const frame = useRef<HTMLDivElement>(null);
  const extent = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const playhead = useRef<HTMLDivElement>(null);
  const scroller = useRef<Scroller | undefined>(undefined);
  const hint = useSignal('');
  const peaks = useMemo(
    () => ({
      out: peaksOfSamples(voices.out, data.sampleRate),
      in: peaksOfSamples(voices.in, data.sampleRate),
    }),
    [voices, data],
  );

  const movePlayhead = () => {
    const scroll = scroller.current;
    if (playhead.current === null || frame.current === null || scroll === undefined) return;
    const at = scroll.place(player.position.peek());
    playhead.current.style.transform = `translateX(${at}px)`;
    playhead.current.hidden = at - frame.current.scrollLeft < scroll.place(0) - 1;
  };
  useEffect(() => {
    if (frame.current === null || extent.current === null || canvas.current === null) return;
    const parts = { frame: frame.current, extent: extent.current, canvas: canvas.current };
    const made = createScroller({ ...parts, axis: () => data, peaks, isLive: false, onDrawn: movePlayhead });
    scroller.current = made;
    made.draw();
    const onKey = (event: KeyboardEvent) => playerKeys(event, { data, player, scroller: made });
    document.addEventListener('keydown', onKey);
    return () => {
      document.removeEventListener('keydown', onKey);
      made.close();
    };
  }, [data, peaks, player]);
  useSignalEffect(() => {
    const at = player.position.value;
    scroller.current?.reveal(at);
    movePlayhead();
  });

  const showHint = (event: PointerEvent) => {
    const scroll = scroller.current;
    if (scroll !== undefined) hint.value = describePoint(data, scroll.msAt(event), scroll);
  };
  return (
    <section class="player" aria-label="Player">
      <Controls data={data} player={player} zoom={(factor) => scroller.current?.zoom(factor)} />
      <div
        id="timeline"
        class="timeline"
        ref={frame}
        tabIndex={0}
        role="slider"
        aria-label="Position"
        aria-valuemin={0}
        aria-valuemax={Math.round(data.durationMs)}
        aria-valuenow={Math.round(player.position.value)}
        aria-valuetext={describeMoment(data, player.position.value)}
        onPointerDown={(event) => {
          if (frame.current !== null && event.offsetY <= frame.current.clientHeight)
            player.seek(scroller.current?.msAt(event) ?? 0);
        }}
        onPointerMove={showHint}
      >
        <div id="extent" class="extent" ref={extent}>
          <canvas ref={canvas} aria-hidden="true" />
          <div id="playhead" class="playhead" ref={playhead} />
        </div>
      </div>
      <p class="hint" id="hint">
        {hint.value === '' ? <Keys /> : hint.value}
      </p>
    </section>
  );
}

function Keys() {
  return (
    <>
      <kbd>Space</kbd> play <kbd>←</kbd> <kbd>→</kbd> move <kbd>n</kbd> <kbd>p</kbd> next and previous event{' '}
      <kbd>+</kbd> <kbd>−</kbd> <kbd>0</kbd> zoom
    </>
  );
}

const choices: [value: Heard, name: string][] = [
  ['both', 'both'],
  ['out', 'you'],
  ['in', 'AI'],
];

function Controls({
  data,
  player,
  zoom,
}: Pick<PanelProps, 'data' | 'player'> & { zoom: (factor: number) => void }) {
  return (
    <div class="controls">
      <button type="button" id="play" class="main" onClick={player.toggle}>
        {player.isPlaying.value ? '❚❚ Pause' : '▶ Play'}
      </button>
      <span class="time">
        <output id="now">{placeTimeText(player.position.value)}</output>{' '}
        <span>/ {placeTimeText(data.durationMs)}</span>
      </span>
      <fieldset>
        <legend>Voices to hear</legend>
        {choices.map(([value, name]) => (
          <label key={value}>
            <input
              type="radio"
              name="hear"
              value={value}
              defaultChecked={value === 'both'}
              onChange={() => player.hear(value)}
            />{' '}
            {value !== 'both' && <span class={`swatch ${value}`} />} {name}
          </label>
        ))}
      </fieldset>
      <label>
        Speed{' '}
        <select id="speed" onChange={(event) => player.speed(Number(event.currentTarget.value))}>
          {['0.5', '0.75', '1', '1.5', '2'].map((speed) => (
            <option key={speed} value={speed} selected={speed === '1'}>
              {speed} ×
            </option>
          ))}
        </select>
      </label>
      <span class="right">
        <button type="button" id="zoom-out" aria-label="Zoom out" onClick={() => zoom(1 / 1.6)}>
          −
        </button>{' '}
        <button type="button" id="zoom-fit" onClick={() => zoom(0)}>
          Fit
        </button>{' '}
        <button type="button" id="zoom-in" aria-label="Zoom in" onClick={() => zoom(1.6)}>
          +
        </button>
      </span>
    </div>
  );
}

interface Played {
  data: RecordingView;
  player: Player;
  scroller: Scroller;
}

const keys: Record<string, (played: Played, event: KeyboardEvent) => void> = {
  ' ': ({ player }) => player.toggle(),
  ArrowLeft: ({ player }, { shiftKey }) => player.seek(player.position.value - (shiftKey ? 5_000 : 500)),
  ArrowRight: ({ player }, { shiftKey }) => player.seek(player.position.value + (shiftKey ? 5_000 : 500)),
  Home: ({ player }) => player.seek(0),
  End: ({ player, data }) => player.seek(data.durationMs),
  n: ({ player, data }) => player.seek(nextMark(data, player.position.value, 1)),
  p: ({ player, data }) => player.seek(nextMark(data, player.position.value, -1)),
  '+': (played) => zoom(played, 1.6),
  '=': (played) => zoom(played, 1.6),
  '-': (played) => zoom(played, 1 / 1.6),
  0: (played) => zoom(played, 0),
};

/** The keys of the player, unless the focused control needs the key itself. */
function playerKeys(event: KeyboardEvent, played: Played): void {
  const act = keys[event.key];
  if (act === undefined || event.ctrlKey || event.metaKey || event.altKey || isOwnKey(event)) return;
  event.preventDefault();
  act(played, event);
}

function isOwnKey({ key, target }: KeyboardEvent): boolean {
  const control = target instanceof Element ? target.closest('select, input, button') : null;
  if (control === null) return false;
  return (
    key === ' ' || control.tagName === 'SELECT' || (control.tagName === 'INPUT' && key.startsWith('Arrow'))
  );
}

function zoom({ player, scroller }: Played, factor: number): void {
  scroller.zoom(factor, player.position.value || undefined);
}

function nextMark({ marks }: RecordingView, at: number, direction: 1 | -1): number {
  const times = marks.map(({ t }) => t);
  const later = times.find((t) => t > at + 1);
  const earlier = times.findLast((t) => t < at - 1);
  return (direction > 0 ? later : earlier) ?? at;
}

import type { RecordingView } from '../../view-data.ts';
import type { Scroller } from '../picture/scroller.ts';
import type { Player } from './player.ts';

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

/** The keys of a finished session, unless the focused control has a use for the key itself. */
export function playerKeys(event: KeyboardEvent, played: Played): void {
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

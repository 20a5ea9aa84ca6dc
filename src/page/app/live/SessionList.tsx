import { useRef } from 'preact/hooks';
import { peakMs } from '../../messages.ts';
import { timeText } from '../picture/places.ts';
import type { Session } from './session.ts';
import { choose, elapsedMs, sessions, shown, state } from './store.ts';
import { useBeat } from './use-beat.ts';

/** Every session, open or just ended, with what is said now. */
export function SessionList() {
  return (
    <nav class="panel sessions" aria-label="Sessions">
      <h2>
        Sessions <span class="count">{state.value?.streams.length ?? 0}</span>
      </h2>
      {sessions.value.length === 0 && <p class="faint">None so far.</p>}
      <ul>
        {sessions.value.map((session) => (
          <Item key={session.stream} session={session} />
        ))}
      </ul>
    </nav>
  );
}

function Item({ session }: { session: Session }) {
  const isShown = shown.value === session;
  const known = state.value?.streams.find(({ stream }) => stream === session.stream);
  const isOpen = session.closedMs === undefined;
  const durationMs = session.closedMs ?? known?.durationMs ?? 0;
  const remark = known?.remarks[0];
  return (
    <li>
      <button
        type="button"
        class={`session ${isOpen ? '' : 'ended'}`}
        aria-pressed={isShown}
        onClick={() => choose(session.stream)}
      >
        <span class="name">
          <b>{session.device ?? 'no token yet'}</b> <span class="faint">#{session.stream}</span>
        </span>
        <span class="faint">{isOpen ? timeText(durationMs, 1_000) : 'ended'}</span>
        {isOpen && <Trace session={session} />}
        {remark !== undefined && <span class="remark note">{remark}</span>}
      </button>
    </li>
  );
}

const traceMs = 8_000;
const [width, height] = [240, 28];

/** The last seconds of both voices: the device above, the AI below. */
function Trace({ session }: { session: Session }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useBeat(canvas, () => {
    const context = canvas.current?.getContext('2d');
    if (context === null || context === undefined) return;
    const style = getComputedStyle(document.documentElement);
    const end = Math.floor((elapsedMs() - session.openedAt) / peakMs);
    const count = traceMs / peakMs;
    context.clearRect(0, 0, 2 * width, 2 * height);
    for (const [voice, color, sign] of [
      ['out', '--you', -1],
      ['in', '--ai', 1],
    ] as const) {
      const { peaks } = session.voices[voice];
      context.fillStyle = style.getPropertyValue(color);
      for (let column = 0; column < width; column += 1) {
        const from = end - count + Math.floor((column * count) / width);
        const peak = Math.max(peaks[from] ?? 0, peaks[from + 1] ?? 0) / 255;
        if (peak > 0) context.fillRect(2 * column, height, 2, sign * peak ** 0.6 * (height - 2));
      }
      context.globalAlpha = 0.35;
      context.fillRect(0, height, 2 * width, 1);
      context.globalAlpha = 1;
    }
  });
  return <canvas class="trace" ref={canvas} width={2 * width} height={2 * height} aria-hidden="true" />;
}

import { useMemo, useRef } from 'preact/hooks';
import { peakMs } from '../../messages.ts';
import { themeColors } from '../picture/colors.ts';
import { paintSoon } from '../picture/painting.ts';
import { placeTimeText } from '../picture/places.ts';
import type { Session } from './page-stream.ts';
import { choose, elapsedMs, emulatorState, sessions, shown } from './store.ts';
import { useBeat } from './use-beat.ts';

/** Every session, open or just ended, with what is said now. */
export function StreamList() {
  return (
    <nav class="panel sessions" aria-label="Streams">
      <h2>
        Streams <span class="count">{emulatorState.value?.streams.length ?? 0}</span>
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
  const known = emulatorState.value?.streams.find(({ stream }) => stream === session.stream);
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
          <b>{session.device ?? 'no token yet'}</b> <span class="faint">stream {session.stream}</span>
        </span>
        <span class="faint">{isOpen ? placeTimeText(durationMs, 1_000) : 'ended'}</span>
        {isOpen && session.heardFromMs !== undefined && <Trace session={session} />}
        {session.judged.length > 0 && <span class="remark bad">{session.judged.length} found</span>}
        {remark !== undefined && <span class="remark note">{remark}</span>}
      </button>
    </li>
  );
}

const traceMs = 8_000;
const [columns, width, height] = [120, 240, 28];
/** Each is drawn with one of so many beats: twice a second. */
const drawEvery = 5;

/** The last seconds of both voices: the device above, the AI below. */
function Trace({ session }: { session: Session }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const paint = useMemo(
    () => () => {
      const context = canvas.current?.getContext('2d');
      if (context) drawTrace(context, session);
    },
    [session],
  );
  useBeat(canvas, () => paintSoon(paint), drawEvery, session.stream);
  return <canvas class="trace" ref={canvas} width={width} height={height} aria-hidden="true" />;
}

function drawTrace(context: CanvasRenderingContext2D, session: Session): void {
  const colors = themeColors();
  const end = Math.floor((elapsedMs() - session.openedAt) / peakMs);
  const count = traceMs / peakMs;
  const [middle, step] = [height / 2, width / columns];
  context.clearRect(0, 0, width, height);
  for (const [voice, color, sign] of [
    ['out', colors.you, -1],
    ['in', colors.ai, 1],
  ] as const) {
    const { peaks } = session.voices[voice];
    context.fillStyle = color ?? 'gray';
    context.beginPath();
    context.rect(0, middle, width, sign);
    for (let column = 0; column < columns; column += 1) {
      const from = end - count + Math.floor((column * count) / columns);
      const peak = Math.max(peaks[from] ?? 0, peaks[from + 1] ?? 0, peaks[from + 2] ?? 0) / 255;
      if (peak > 0) context.rect(step * column, middle, step, sign * peak ** 0.6 * (middle - 2));
    }
    context.fill();
  }
}

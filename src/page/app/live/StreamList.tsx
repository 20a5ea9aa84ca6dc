import { useMemo, useRef } from 'preact/hooks';
import { peakMs } from '../../messages.ts';
import { themeColors } from '../picture/colors.ts';
import { paintSoon } from '../picture/painting.ts';
import { placeTimeText } from '../picture/places.ts';
import { deviceText, type PageStream } from './page-stream.ts';
import { chooseStream, elapsedMs, emulatorState, pageStreams, shown } from './store.ts';
import { useRedraw } from './use-redraw.ts';

/** Every stream, open or just ended, with what is said now. */
export function StreamList() {
  return (
    <nav class="panel streams" aria-label="Streams">
      <h2>
        Streams <span class="count">{emulatorState.value?.streams.length ?? 0}</span>
      </h2>
      {pageStreams.value.length === 0 && <p class="faint">None so far.</p>}
      <ul>
        {pageStreams.value.map((stream) => (
          <Item key={stream.number} stream={stream} />
        ))}
      </ul>
    </nav>
  );
}

function Item({ stream }: { stream: PageStream }) {
  const isShown = shown.value === stream;
  const known = emulatorState.value?.streams.find((one) => one.stream === stream.number);
  const isOpen = stream.closedMs === undefined;
  const durationMs = stream.closedMs ?? known?.durationMs ?? 0;
  const [remark] = known?.remarks ?? stream.remarks;
  return (
    <li>
      <button
        type="button"
        class={`stream ${isOpen ? '' : 'ended'}`}
        aria-pressed={isShown}
        onClick={() => chooseStream(stream.number)}
      >
        <span class="name">
          <b>{deviceText(stream)}</b> <span class="faint">stream {stream.number}</span>
        </span>
        <span class="faint">{isOpen ? placeTimeText(durationMs, 1_000) : 'ended'}</span>
        {isOpen && stream.heardFromMs !== undefined && <Trace stream={stream} />}
        {stream.judged.length > 0 && <span class="remark bad">{stream.judged.length} found</span>}
        {remark !== undefined && <span class="remark note">{remark}</span>}
      </button>
    </li>
  );
}

const traceMs = 8_000;
const [columns, width, height] = [120, 240, 28];
/** Each trace is drawn with one in this many redraws: twice a second. */
const drawEvery = 5;

/** The last seconds of both voices: the device above, the AI below. */
function Trace({ stream }: { stream: PageStream }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const paint = useMemo(
    () => () => {
      const context = canvas.current?.getContext('2d');
      if (context) drawTrace(context, stream);
    },
    [stream],
  );
  useRedraw(canvas, () => paintSoon(paint), drawEvery, stream.number);
  return <canvas class="trace" ref={canvas} width={width} height={height} aria-hidden="true" />;
}

function drawTrace(context: CanvasRenderingContext2D, stream: PageStream): void {
  const colors = themeColors();
  const end = Math.floor((elapsedMs() - stream.openedAt) / peakMs);
  const count = traceMs / peakMs;
  const [middle, step] = [height / 2, width / columns];
  context.clearRect(0, 0, width, height);
  for (const [voice, color, sign] of [
    ['out', colors.you, -1],
    ['in', colors.ai, 1],
  ] as const) {
    const { peaks } = stream.voices[voice];
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

import { signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { pageData } from '../../../protocol/control-paths.ts';
import { countText } from '../../../protocol/count-text.ts';
import { verdictText } from '../../../report/emulator-lines.ts';
import { peakMs } from '../../messages.ts';
import { tones } from '../../view-data.ts';
import { peaksOfBytes } from '../picture/peaks.ts';
import { placeTimeText } from '../picture/places.ts';
import { createScroller, describePoint, type Scroller } from '../picture/scroller.ts';
import { Actions } from './Actions.tsx';
import { askEmulator } from './api.ts';
import { reportOutcome } from './Notice.tsx';
import { axisOf, deviceText, type PageStream } from './page-stream.ts';
import { RecordButton } from './RecordButton.tsx';
import { elapsedMs, emulatorState, hello } from './store.ts';
import { useRedraw } from './use-redraw.ts';

/** One stream, live: both voices on one axis, what was found and said, and what can be done to it. */
export function StreamPanel({ stream }: { stream: PageStream }) {
  const known = emulatorState.value?.streams.find((one) => one.stream === stream.number);
  const isOpen = stream.closedMs === undefined;
  const isElsewhere = hello.value?.instance !== undefined && stream.heardFromMs === undefined;
  return (
    <section class="panel stream-panel" aria-labelledby="stream-title">
      <div class="title">
        <h2 id="stream-title">
          {deviceText(stream)} <span class="faint">stream {stream.number}</span>
        </h2>
        {isOpen && !isElsewhere && (
          <>
            <ListenButton stream={stream.number} />
            <RecordButton stream={stream.number} />
          </>
        )}
      </div>
      <p class="verdict">
        {known === undefined ? (
          <>
            Ended after {placeTimeText(stream.closedMs ?? 0, 10)}
            {stream.remarks.length > 0 && <span class="note"> · {stream.remarks.join('; ')}</span>}
          </>
        ) : (
          <>
            <span class={known.remarks.length > 0 ? 'note' : 'good'}>
              {known.pace.timesRealTime === null ? 'no verdict yet' : verdictText(known)}
            </span>{' '}
            · {countText(known.framesIn, 'message')} from device, {known.framesOut} from service
          </>
        )}
      </p>
      {isElsewhere ? <Elsewhere stream={stream} /> : <LivePicture stream={stream} />}
      <Judgements judged={stream.judged} />
      <Transcript lines={stream.transcript.lines} />
      {isOpen && <Actions stream={stream} />}
    </section>
  );
}

/** Who speaks: the same words for an emulator and a proxy. */
const speakers = { out: 'device', in: 'service' };

/** Where several emulators are one service, each hears only the streams that are open on it. */
function Elsewhere({ stream }: { stream: PageStream }) {
  const { instance } = stream;
  return (
    <p class="aside">
      This stream is open on {instance === undefined ? 'another emulator' : `the emulator ${instance}`} of
      this service. Its voices are on the page of that emulator; your actions here still reach the stream.
    </p>
  );
}

/** The rules that a proxy saw the two sides break. */
function Judgements({ judged }: { judged: PageStream['judged'] }) {
  if (judged.length === 0) return null;
  return (
    <ul class="aside told-lines" aria-label="What is wrong">
      {judged.map(({ subject, text, level }) => (
        <li key={subject}>
          <b class={tones[level]}>{subject}</b> {text}
        </li>
      ))}
    </ul>
  );
}

const maxSpoken = 30;

/** What was spoken, according to the service; the newest is last. */
function Transcript({ lines }: { lines: PageStream['transcript']['lines'] }) {
  const box = useRef<HTMLUListElement>(null);
  const last = lines.at(-1)?.text;
  useEffect(() => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [last]);
  if (lines.length === 0) return null;
  return (
    <ul class="aside told-lines" aria-label="Transcript" tabIndex={0} ref={box}>
      {lines.slice(-maxSpoken).map(({ t, who, text }) => (
        <li key={`${t} ${who}`}>
          <span class="faint">{placeTimeText(t, 100)}</span> {who !== null && <b class={who}>{who}</b>} {text}
        </li>
      ))}
    </ul>
  );
}

function LivePicture({ stream }: { stream: PageStream }) {
  const frame = useRef<HTMLDivElement>(null);
  const extent = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<Scroller | undefined>(undefined);
  const hint = useSignal('');
  const axis = useMemo(() => axisOf(stream), [stream]);
  useEffect(() => {
    if (frame.current === null || extent.current === null || canvas.current === null) return;
    const { out, in: ai } = stream.voices;
    const made = createScroller({
      ...{ frame: frame.current, extent: extent.current, canvas: canvas.current },
      axis: () => axis(elapsedMs()),
      peaks: { out: peaksOfBytes(() => out.peaks, peakMs), in: peaksOfBytes(() => ai.peaks, peakMs) },
      unheard: () => stream.unheard,
      names: speakers,
      isLive: true,
    });
    scroller.current = made;
    made.draw();
    return made.close;
  }, [stream]);
  useRedraw(frame, () => scroller.current?.draw());
  return (
    <>
      <div
        class="timeline"
        ref={frame}
        tabIndex={0}
        role="img"
        aria-label={`Waveforms of stream ${stream.number}: the device above, the service below`}
        onPointerMove={(event) => {
          const scroll = scroller.current;
          if (scroll !== undefined) hint.value = describePoint(axis(elapsedMs()), scroll.msAt(event), scroll);
        }}
        onPointerLeave={() => (hint.value = '')}
      >
        <div class="extent" ref={extent}>
          <canvas ref={canvas} aria-hidden="true" />
        </div>
      </div>
      <div class="hint">
        <span class="told">
          {hint.value === '' ? 'Scroll to look back; zoom with Ctrl and the wheel' : hint.value}
        </span>
        <ZoomButtons scroller={scroller} />
      </div>
    </>
  );
}

function ZoomButtons({ scroller }: { scroller: { readonly current: Scroller | undefined } }) {
  return (
    <>
      <button type="button" aria-label="Zoom out" onClick={() => scroller.current?.zoom(1 / 1.6)}>
        −
      </button>
      <button type="button" onClick={() => scroller.current?.zoom(0)}>
        Fit
      </button>
      <button type="button" aria-label="Zoom in" onClick={() => scroller.current?.zoom(1.6)}>
        +
      </button>
      <button type="button" onClick={() => scroller.current?.follow()}>
        Now
      </button>
    </>
  );
}

/** Plays both voices of a stream as they speak. */
function ListenButton({ stream }: { stream: number }) {
  const isOn = listening.value === stream;
  useEffect(() => stopListening, []);
  return (
    <button
      type="button"
      id="listen"
      aria-pressed={isOn}
      onClick={() => (isOn ? stopListening() : listenTo(stream))}
    >
      {isOn ? '■ Stop listening' : '▶ Listen'}
    </button>
  );
}

/** The stream that is being listened to. */
const listening = signal<number>();
let current: AbortController | undefined;

function stopListening(): void {
  current?.abort();
  current = undefined;
  listening.value = undefined;
}

/** Plays both voices of a stream until it ends or `stopListening` is called: the device on the left, the AI on the right. */
function listenTo(stream: number): void {
  stopListening();
  const mine = new AbortController();
  current = mine;
  listening.value = stream;
  const asked = askEmulator('GET', `${pageData}listen`, { query: { stream }, signal: mine.signal });
  void reportOutcome(
    Promise.all([asked, import('./play.ts')])
      .then(([{ body }, { play }]) => body && play(body))
      .catch((thrown) => {
        if (!mine.signal.aborted) throw thrown;
      })
      .finally(() => {
        if (current === mine) stopListening();
      })
      .then(() => `Listened to stream ${stream}`),
  );
}

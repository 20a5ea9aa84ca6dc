import { signal, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { escapeText } from '../../../kernel/escape.ts';
import { pageData } from '../../../protocol/control-paths.ts';
import { countersShown } from '../../../report/serve-counters.ts';
import type { RecordingState } from '../../messages.ts';
import type { RecordingView as Data, PackedVoices } from '../../view-data.ts';
import { placeTimeText } from '../picture/places.ts';
import type { Voices } from '../recording/voices.ts';
import { download } from './act.ts';
import { askJson } from './api.ts';
import { ClockControls } from './Clock.tsx';
import { Events } from './Events.tsx';
import { FaultsPanel } from './Faults.tsx';
import { followServer } from './feed.ts';
import { listenToPageKeys, pageBindings } from './keys.ts';
import { link } from './link.ts';
import { NoToken } from './NoToken.tsx';
import { NoticeBar, reportFailure, reportOutcome } from './Notice.tsx';
import { stopRecording } from './RecordButton.tsx';
import { StreamList } from './StreamList.tsx';
import { StreamPanel } from './StreamPanel.tsx';
import {
  applyMessage,
  counters,
  emulatorState,
  hello,
  help,
  isProxy,
  lastEvent,
  openedRecording,
  place,
  recordings,
  shown,
} from './store.ts';
import { LinkState, Title } from './Title.tsx';

/** The page of an emulator: who is connected, what is said, what happens, and what can be done about it. */
export function LivePage() {
  useEffect(() => {
    followServer({ since: lastEvent, apply: applyMessage });
    return listenToPageKeys();
  }, []);
  useEffect(() => {
    document.title = `voicectl ${place()}`;
  }, [hello.value]);
  const made = panels.value;
  const isConnecting = link.value === 'connecting';
  useEffect(() => {
    if (!isConnecting) makePanels();
  }, [isConnecting]);
  if (link.value === 'no-token' || link.value === 'refused') return <NoToken />;
  return (
    <>
      <Head />
      {openedRecording.value !== undefined && <OpenedRecording id={openedRecording.value} />}
      <main class="board" hidden={openedRecording.value !== undefined}>
        {made > 0 && <StreamList />}
        <div class="middle">
          {made > 1 &&
            (shown.value === undefined ? (
              <Nobody />
            ) : (
              <StreamPanel key={shown.value.number} stream={shown.value} />
            ))}
          {made > 2 && <Events />}
        </div>
        <div class="side">
          {made > 3 && <Devices />}
          {made > 4 && <ClockControls />}
          {made > 5 && <FaultsPanel />}
          {made > 6 && <Recordings />}
        </div>
      </main>
      <NoticeBar />
      <Help />
    </>
  );
}

const allPanels = 7;
/** Number of panels to show: one more with each frame, so that opening the page takes no long task. */
const panels = signal(0);

function makePanels(): void {
  panels.value += 1;
  if (panels.value < allPanels) requestAnimationFrame(makePanels);
}

/** What to try first. */
function Nobody() {
  const { baseUrl, curl } = hello.value ?? {};
  const stream = `npx voicectl stream --file hello.wav${baseUrl === undefined ? '' : ` --base-url ${baseUrl}`}`;
  return (
    <section class="panel empty" aria-label="Stream">
      <h2>No device is connected</h2>
      <p>Connect the app under test, or try it from a terminal:</p>
      <pre tabIndex={0}>
        {stream}
        {'\n'}
        {curl}
      </pre>
    </section>
  );
}

/** Each device with its rate window and its connections, and the tokens that were issued for it. */
function Devices() {
  const { devices = [], tokens = [], streams = [], clock } = emulatorState.value ?? {};
  const isOfOthers = isProxy();
  const now = clock === undefined ? 0 : Date.parse(clock.now);
  return (
    <section class="panel" aria-labelledby="devices-title">
      <h2 id="devices-title">
        Devices <span class="count">{devices.length}</span>
      </h2>
      {devices.length === 0 && <p class="faint">No device has requested a token.</p>}
      <ul class="devices">
        {devices
          .slice(0, maxShown)
          .map(({ device, requests, limit, resetAt, connections, maxConnections }) => {
            const token = tokens.findLast((one) => one.device === device);
            return (
              <li key={device}>
                <b>{escapeText(device)}</b>
                <Bar name="requests" value={requests} most={limit} />
                <Bar
                  name="connections"
                  // A proxy does not grant connections: it sees those that pass.
                  value={isOfOthers ? streams.filter((one) => one.device === device).length : connections}
                  most={maxConnections}
                />
                {/* Always two lines: what is below must not move under the pointer. */}
                <small class="faint one-line">
                  {resetAt === null ? 'no open window' : `window resets in ${secondsUntil(resetAt, now)}`}
                </small>
                <small class="faint one-line">
                  {token === undefined
                    ? 'no valid token'
                    : `token ${isOfOthers ? '' : token.used ? 'used, ' : 'not used, '}expires in ${secondsUntil(token.expiresAt, now)}`}
                </small>
              </li>
            );
          })}
      </ul>
      {devices.length > maxShown && <p class="faint">and {devices.length - maxShown} more</p>}
    </section>
  );
}

const maxShown = 20;

function Bar({ name, value, most }: { name: string; value: number; most: number }) {
  return (
    <label class="bar">
      <span>
        {value}/{most} {name}
      </span>
      <meter min={0} max={most} low={most * 0.75} high={most * 0.95} optimum={0} value={value} />
    </label>
  );
}

function secondsUntil(iso: string, now: number): string {
  return `${Math.max(0, Math.round((Date.parse(iso) - now) / 1000))} s`;
}

/** What this is, whether it is connected, the clock and the counts. */
function Head() {
  const { version, target, instance } = hello.value ?? {};
  const subject =
    target === undefined ? instance && `emulator ${instance}, one of several` : `proxy to ${target}`;
  const { now, aheadMs = 0 } = emulatorState.value?.clock ?? {};
  // Of several emulators, each counts only what it did itself.
  const since = `Since ${instance === undefined ? `the ${place()}` : `emulator ${instance}`} started`;
  return (
    <header class="head">
      <Title version={version} subject={subject} />
      <LinkState stopped={`the ${place()} has stopped`} />
      {!isProxy() && (
        <span class="clock" title="The time of the emulator">
          {now?.slice(11, 19)} {aheadMs > 0 && <b class="note">{aheadText(aheadMs)}</b>}
        </span>
      )}
      <ul class="counts" aria-label={since} title={since}>
        {countersShown(counters.value).map(({ name, count }) => (
          <li key={name}>
            {count} {name}
          </li>
        ))}
      </ul>
      <button type="button" class="quiet" aria-keyshortcuts="?" onClick={() => (help.value = true)}>
        Keys <kbd>?</kbd>
      </button>
    </header>
  );
}

function aheadText(ms: number): string {
  return ms < 120_000 ? `+${Math.round(ms / 1000)} s` : `+${Math.round(ms / 60_000)} min`;
}

/** The keys of the page: those of the screens that a browser does not need itself. */
function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useSignalEffect(() => {
    if (help.value) dialog.current?.showModal();
    else dialog.current?.close();
  });
  return (
    <dialog
      ref={dialog}
      aria-labelledby="help-title"
      // The close event comes late: a key may have opened the dialog again by then.
      onCancel={() => (help.value = false)}
      onClose={() => (help.value = dialog.current?.open === true)}
    >
      <h2 id="help-title">Keys</h2>
      <dl class="keys">
        {pageBindings().map(({ command, shown, help: text }) => (
          <div key={command}>
            <dt>
              {shown.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

type Shown = typeof import('../recording/RecordingView.tsx').RecordingPicture;

/** A recording in the view that `inspect --html` writes. */
function OpenedRecording({ id }: { id: number }) {
  const loaded = useSignal<{ View: Shown; data: Data; voices: Voices }>();
  useEffect(() => {
    const load = async () => {
      const path = `${pageData}recordings/${id}.json`;
      // Loaded on demand, so that the page opens sooner.
      const [{ RecordingPicture: View }, { decodePcm }] = await Promise.all([
        import('../recording/RecordingView.tsx'),
        import('../recording/voices.ts'),
      ]);
      const { view, voices } = await askJson<{ view: Data; voices: PackedVoices }>('GET', path);
      loaded.value = {
        View,
        data: view,
        voices: { out: await decodePcm(voices.out), in: await decodePcm(voices.in) },
      };
    };
    load().catch((thrown) => {
      reportFailure(thrown);
      openedRecording.value = undefined;
    });
  }, [id]);
  const shown = loaded.value;
  return (
    <main class="opened">
      <button type="button" id="back" class="back" onClick={() => (openedRecording.value = undefined)}>
        ← Back to the {place()}
      </button>
      {shown === undefined ? (
        <p class="faint">Reading…</p>
      ) : (
        <shown.View data={shown.data} voices={shown.voices} isPart />
      )}
    </main>
  );
}

/** The recordings made from the page; they are kept until the emulator ends. */
function Recordings() {
  return (
    <section class="panel" aria-labelledby="recordings-title">
      <h2 id="recordings-title">
        Recordings <span class="count">{recordings.value.length}</span>
      </h2>
      {recordings.value.length === 0 && (
        <p class="faint">
          Record a stream with its Record button. A recording is kept until the {place()} ends.
        </p>
      )}
      <ul class="recordings">
        {recordings.value.toReversed().map((one) => (
          <Item key={one.id} recording={one} />
        ))}
      </ul>
    </section>
  );
}

function Item({ recording }: { recording: RecordingState }) {
  const { id, device, stream, durationMs, end, why } = recording;
  const save = (form: string) =>
    reportOutcome(download(`${pageData}recordings/${id}.${form}`, `recording-${id}.${form}`));
  const shownDevice = escapeText(device);
  const name = `recording ${id} of ${shownDevice}`;
  return (
    <li>
      <span>
        <b>{shownDevice}</b>{' '}
        <span class="faint">
          {stream === undefined ? 'replayed' : `stream ${stream}`}, {placeTimeText(durationMs, 1_000)}
        </span>{' '}
        {end === undefined && <span class="bad">recording</span>}
        {end === 'failed' && <span class="bad">{why}</span>}
      </span>
      <span class="line">
        {end === undefined ? (
          <button type="button" aria-label={`Stop ${name}`} onClick={() => stopRecording(id)}>
            Stop
          </button>
        ) : (
          <>
            <button type="button" aria-label={`Open ${name}`} onClick={() => (openedRecording.value = id)}>
              Open
            </button>
            <button type="button" aria-label={`Save ${name} as .html`} onClick={() => save('html')}>
              .html
            </button>
            <button type="button" aria-label={`Save ${name} as .tar`} onClick={() => save('tar')}>
              .tar
            </button>
          </>
        )}
      </span>
    </li>
  );
}

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Clock } from './Clock.tsx';
import { Devices } from './Devices.tsx';
import { Events } from './Events.tsx';
import { Faults } from './Faults.tsx';
import { followServer } from './feed.ts';
import { Head } from './Head.tsx';
import { Help } from './Help.tsx';
import { listenToKeys } from './keys.ts';
import { link } from './link.ts';
import { NoToken } from './NoToken.tsx';
import { Notice } from './Notice.tsx';
import { OpenedRecording } from './OpenedRecording.tsx';
import { Recordings } from './Recordings.tsx';
import { SessionList } from './SessionList.tsx';
import { SessionPanel } from './SessionPanel.tsx';
import { hello, lastEvent, opened, place, shown, take } from './store.ts';

/** The page of an emulator: who is connected, what is said, what happens, and what can be done about it. */
export function LivePage() {
  useEffect(() => {
    followServer({ since: lastEvent, take });
    return listenToKeys();
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
      {opened.value !== undefined && <OpenedRecording id={opened.value} />}
      <main class="board" hidden={opened.value !== undefined}>
        {made > 0 && <SessionList />}
        <div class="middle">
          {made > 1 &&
            (shown.value === undefined ? (
              <Nobody />
            ) : (
              <SessionPanel key={shown.value.stream} session={shown.value} />
            ))}
          {made > 2 && <Events />}
        </div>
        <div class="side">
          {made > 3 && <Devices />}
          {made > 4 && <Clock />}
          {made > 5 && <Faults />}
          {made > 6 && <Recordings />}
        </div>
      </main>
      <Notice />
      <Help />
    </>
  );
}

const allPanels = 7;
/** Panels that are made: one more with each frame, so that no task of the page is long while it opens. */
const panels = signal(0);

function makePanels(): void {
  panels.value += 1;
  if (panels.value < allPanels) requestAnimationFrame(makePanels);
}

/** What a stranger can try. */
function Nobody() {
  const { baseUrl, curl } = hello.value ?? {};
  const stream = `npx voicectl stream --file hello.wav${baseUrl === undefined ? '' : ` --base-url ${baseUrl}`}`;
  return (
    <section class="panel empty" aria-label="Stream">
      <h2>Nobody is connected</h2>
      <p>Connect the app under test, or try it from a terminal:</p>
      <pre tabIndex={0}>
        {stream}
        {'\n'}
        {curl}
      </pre>
    </section>
  );
}

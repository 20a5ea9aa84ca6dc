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
  if (link.value === 'no-token' || link.value === 'refused') return <NoToken />;
  return (
    <>
      <Head />
      {opened.value !== undefined && <OpenedRecording id={opened.value} />}
      <main class="board" hidden={opened.value !== undefined}>
        <SessionList />
        <div class="middle">
          {shown.value === undefined ? (
            <Nobody />
          ) : (
            <SessionPanel key={shown.value.stream} session={shown.value} />
          )}
          <Events />
        </div>
        <div class="side">
          <Devices />
          <Clock />
          <Faults />
          <Recordings />
        </div>
      </main>
      <Notice />
      <Help />
    </>
  );
}

/** What a stranger can try. */
function Nobody() {
  const { baseUrl, curl } = hello.value ?? {};
  const stream = `npx voicectl stream --file hello.wav${baseUrl === undefined ? '' : ` --base-url ${baseUrl}`}`;
  return (
    <section class="panel empty" aria-label="Session">
      <h2>Nobody is connected</h2>
      <p>Connect the app under test, or try a session in a terminal:</p>
      <pre tabIndex={0}>
        {stream}
        {'\n'}
        {curl}
      </pre>
    </section>
  );
}

import { counterTexts } from '../../../report/serve-counters.ts';
import { counters, hello, help, isProxy, place, state } from './store.ts';
import { LinkState, Title } from './Title.tsx';

/** What this is, whether it is connected, the clock and the counts. */
export function Head() {
  const { version, target, instance } = hello.value ?? {};
  const subject = target === undefined ? instance && `emulator ${instance} of several` : `proxy to ${target}`;
  const { now, aheadMs = 0 } = state.value?.clock ?? {};
  return (
    <header class="head">
      <Title version={version} subject={subject} />
      <LinkState stopped={`the ${place()} has stopped`} />
      {!isProxy() && (
        <span class="clock" title="The time of the emulator">
          {now?.slice(11, 19)} {aheadMs > 0 && <b class="note">{aheadText(aheadMs)}</b>}
        </span>
      )}
      <ul class="counts" aria-label="Since the page was opened">
        {counterTexts(counters.value).map((one) => (
          <li key={one.replace(/(?<!\d)\d+ /, '')}>{one}</li>
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

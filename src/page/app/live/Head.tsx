import { counterTexts } from '../../../report/serve-counters.ts';
import { counters, hello, help, type Link, link, state } from './store.ts';

const links: Record<Link, [text: string, tone: string]> = {
  connecting: ['connecting', 'note'],
  live: ['live', 'good'],
  lost: ['connection lost, trying again', 'bad'],
  asleep: ['asleep', 'muted'],
  'no-token': ['', 'muted'],
  refused: ['', 'muted'],
  stopped: ['the emulator has stopped', 'note'],
};

/** What this is, whether it is connected, the clock and the counts. */
export function Head() {
  const [text, tone] = links[link.value];
  const { now, aheadMs = 0 } = state.value?.clock ?? {};
  return (
    <header class="head">
      <h1>
        <svg width="26" height="20" viewBox="0 0 26 20" aria-hidden="true">
          <path class="you" d="M2 8v4M6 4v12M10 7v6" />
          <path class="ai" d="M16 6v8M20 2v16M24 8v4" />
        </svg>
        voicectl <small>{hello.value?.version}</small>
      </h1>
      <span class={`link ${tone}`} role="status">
        <span class="dot" /> {text}
      </span>
      <span class="clock" title="The time of the emulator">
        {now?.slice(11, 19)} {aheadMs > 0 && <b class="note">{aheadText(aheadMs)}</b>}
      </span>
      <ul class="counts" aria-label="Since the page was opened">
        {counterTexts(counters.value).map((one) => (
          <li key={one.replace(/\d+ /, '')}>{one}</li>
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

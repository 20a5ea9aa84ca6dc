import { type Link, link } from './link.ts';

/** The name and the subject of the page. */
export function Title({ version, subject }: { version: string | undefined; subject: string | undefined }) {
  return (
    <>
      <h1>
        <svg width="26" height="20" viewBox="0 0 26 20" aria-hidden="true">
          <path class="you" d="M2 8v4M6 4v12M10 7v6" />
          <path class="ai" d="M16 6v8M20 2v16M24 8v4" />
        </svg>
        voicectl <small>{version}</small>
      </h1>
      {subject !== undefined && <span class="subject">{subject}</span>}
    </>
  );
}

const links: Record<Link, [text: string, tone: string]> = {
  connecting: ['connecting', 'note'],
  live: ['live', 'good'],
  lost: ['connection lost, trying again', 'bad'],
  asleep: ['asleep', 'muted'],
  'no-token': ['', 'muted'],
  refused: ['', 'muted'],
  stopped: ['', 'note'],
};

/** Whether the page is connected. `stopped`: its text at the end; `stoppedTone`: how that is coloured. */
export function LinkState({ stopped, stoppedTone = 'note' }: { stopped: string; stoppedTone?: string }) {
  const [text, ordinary] = links[link.value];
  const tone = link.value === 'stopped' ? stoppedTone : ordinary;
  return (
    <span class={`link ${tone}`} role="status">
      <span class="dot" /> {link.value === 'stopped' ? stopped : text}
    </span>
  );
}

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { systemClock } from '../../../kernel/clock.ts';
import { link } from './link.ts';

/** A sentence for the user, about what was just done. */
const notice = signal<{ text: string; isBad: boolean }>();

/** Waits for `work` and shows its outcome. */
export async function reportOutcome(work: Promise<string>): Promise<void> {
  try {
    notice.value = { text: await work, isBad: false };
  } catch (thrown) {
    reportFailure(thrown);
  }
}

/** Says why something failed. A browser words a lost connection in its own way, for requests and for code that it loads. */
export function reportFailure(thrown: unknown): void {
  const isAway = thrown instanceof TypeError && link.peek() !== 'live';
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  notice.value = { text: isAway ? 'voicectl does not answer' : why, isBad: true };
}

/** Copies text to the clipboard. */
export function copyText(text: string, what: string): Promise<void> {
  return reportOutcome(navigator.clipboard.writeText(text).then(() => `Copied ${what}`));
}

/** Shows for a moment what was just done. */
export function NoticeBar() {
  const shown = notice.value;
  useEffect(() => {
    if (shown === undefined) return;
    const timer = systemClock.after(6_000, () => {
      notice.value = undefined;
    });
    return timer.cancel;
  }, [shown]);
  return (
    <div class={`notice ${shown?.isBad ? 'bad' : ''}`} role="status" data-shown={shown !== undefined}>
      {shown?.text}
    </div>
  );
}

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { systemClock } from '../../../kernel/clock.ts';

/** A sentence for the user, about what was just done. */
export const notice = signal<{ text: string; isBad: boolean }>();

/** Waits for `work` and shows its outcome. */
export async function reportOutcome(work: Promise<string>): Promise<void> {
  try {
    notice.value = { text: await work, isBad: false };
  } catch (thrown) {
    notice.value = { text: thrown instanceof Error ? thrown.message : String(thrown), isBad: true };
  }
}

/** Copies text to the clipboard. */
export function copy(text: string, what: string): Promise<void> {
  return reportOutcome(navigator.clipboard.writeText(text).then(() => `Copied ${what}`));
}

/** Shows for a moment what was just done. */
export function NoticeBar() {
  const told = notice.value;
  useEffect(() => {
    if (told === undefined) return;
    const timer = systemClock.after(6_000, () => {
      notice.value = undefined;
    });
    return timer.cancel;
  }, [told]);
  return (
    <div class={`notice ${told?.isBad ? 'bad' : ''}`} role="status" data-shown={told !== undefined}>
      {told?.text}
    </div>
  );
}

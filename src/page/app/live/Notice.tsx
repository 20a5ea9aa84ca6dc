import { useEffect } from 'preact/hooks';
import { systemClock } from '../../../kernel/clock.ts';
import { notice } from './notice.ts';

/** What was just done, for a moment. */
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

import { type ClockTimer, systemClock } from '../../../kernel/clock.ts';
import { pageData } from '../../../protocol/control-paths.ts';
import type { PageMessage } from '../../messages.ts';
import { ask, forgetToken, Refused, readToken } from './api.ts';
import { lastEvent, link, take } from './store.ts';

/** A tab that nobody has seen for this long stops to listen: the emulator then computes nothing for it. */
const sleepAfterMs = 10_000;
const retryMs = 1_000;

/** Follows the emulator while the tab is seen, and connects again from where it was. */
export function followEmulator(): void {
  let current: AbortController | undefined;
  let sleep: ClockTimer | undefined;

  const connect = async () => {
    if (current !== undefined) return;
    if (readToken() === undefined) {
      link.value = 'no-token';
      return;
    }
    const mine = new AbortController();
    current = mine;
    try {
      await follow(mine.signal);
      link.value = link.value === 'stopped' ? 'stopped' : 'lost';
    } catch (thrown) {
      if (mine.signal.aborted) return;
      const isRefused = thrown instanceof Refused && thrown.status < 500;
      // The emulator was started again: its token is another.
      if (isRefused) forgetToken();
      link.value = isRefused ? 'refused' : 'lost';
    } finally {
      if (current === mine) current = undefined;
    }
    if (link.value === 'lost' || link.value === 'stopped') systemClock.after(retryMs, () => void connect());
  };
  const wake = () => {
    sleep?.cancel();
    if (!document.hidden) void connect();
    else
      sleep = systemClock.after(sleepAfterMs, () => {
        current?.abort();
        current = undefined;
        link.value = 'asleep';
      });
  };
  document.addEventListener('visibilitychange', wake);
  void connect();
}

async function follow(signal: AbortSignal): Promise<void> {
  const { body } = await ask('GET', `${pageData}live`, { query: { since: lastEvent() }, signal });
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) if (line !== '') take(JSON.parse(line) as PageMessage);
  }
}

import { type ClockTimer, systemClock } from '../../../kernel/clock.ts';
import { pageData } from '../../../protocol/control-paths.ts';
import { askEmulator, forgetToken, Refused, readPageToken } from './api.ts';
import { link } from './link.ts';

/** A tab that has been hidden for this long stops listening: the server then computes nothing for it. */
const sleepAfterMs = 10_000;
const retryMs = 1_000;
/** Longest time that is spent on messages before the page may do something else. */
const sliceMs = 10;

interface Followed<Message> {
  /** The number of the last event that is known. */
  since: () => number;
  apply: (message: Message) => void;
  /** Nothing more will come: the server has sent everything and is gone. */
  isOver?: () => boolean;
}

/** Follows the server of the page while the tab is visible, and reconnects at the event where it left off. */
export function followServer<Message>({ since, apply, isOver = () => false }: Followed<Message>): void {
  let current: AbortController | undefined;
  let sleep: ClockTimer | undefined;

  const connect = async () => {
    if (current !== undefined || isOver()) return;
    if (readPageToken() === undefined) {
      link.value = 'no-token';
      return;
    }
    const mine = new AbortController();
    current = mine;
    try {
      await readLines(since(), mine.signal, apply);
      loseLink();
    } catch (thrown) {
      if (mine.signal.aborted) return;
      const isRefused = thrown instanceof Refused && thrown.status < 500;
      // The server was restarted: it has a new token.
      if (isRefused) forgetToken();
      if (isRefused) link.value = 'refused';
      else loseLink();
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
        if (isOver()) return;
        current?.abort();
        current = undefined;
        link.value = 'asleep';
      });
  };
  document.addEventListener('visibilitychange', wake);
  void connect();
}

/** A server that said that it stops stays stopped, until it answers again. */
function loseLink(): void {
  if (link.value !== 'stopped') link.value = 'lost';
}

async function readLines<Message>(
  since: number,
  signal: AbortSignal,
  apply: (message: Message) => void,
): Promise<void> {
  const { body } = await askEmulator('GET', `${pageData}live`, { query: { since }, signal });
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  let end = systemClock.now() + sliceMs;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      if (line !== '') apply(JSON.parse(line) as Message);
      if (systemClock.now() < end) continue;
      await new Promise<void>((resolve) => systemClock.after(0, resolve));
      end = systemClock.now() + sliceMs;
    }
  }
}

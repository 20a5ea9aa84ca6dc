import { signal } from '@preact/signals';
import { pageData } from '../../../protocol/control-paths.ts';
import { ask } from './api.ts';
import { tellOf } from './notice.ts';

/** The stream that is heard. */
export const listening = signal<number>();
let current: AbortController | undefined;

export function stopListening(): void {
  current?.abort();
  current = undefined;
  listening.value = undefined;
}

/** Plays both voices of a stream until it ends or `stopListening` is called: the device more to the left, the AI to the right. */
export function listenTo(stream: number): void {
  stopListening();
  const mine = new AbortController();
  current = mine;
  listening.value = stream;
  const asked = ask('GET', `${pageData}listen`, { query: { stream }, signal: mine.signal });
  void tellOf(
    Promise.all([asked, import('./play.ts')])
      .then(([{ body }, { play }]) => body && play(body))
      .catch((thrown) => {
        if (!mine.signal.aborted) throw thrown;
      })
      .finally(() => {
        if (current === mine) stopListening();
      })
      .then(() => `Listened to stream ${stream}`),
  );
}

import { signal } from '@preact/signals';
import { tellOf } from './notice.ts';

/** The session that is heard. */
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
  void tellOf(
    import('./play.ts')
      .then(({ play }) => play(stream, mine.signal))
      .catch((thrown) => {
        if (!mine.signal.aborted) throw thrown;
      })
      .finally(() => {
        if (current === mine) stopListening();
      })
      .then(() => `Listened to session ${stream}`),
  );
}

import { expect } from 'vitest';
import type { CountersMessage, EventsMessage, PageMessage, StateMessage } from '../../src/page/messages.ts';

/** The secret of a page under test, and what a tab sends with it. */
export const token = 'the-token-of-this-start';
export const headers = { 'X-Voicectl-Token': token, 'Content-Type': 'application/json' };

/** Follows an emulator as a tab does. */
export async function look({ baseUrl }: { baseUrl: string }, since = 0) {
  const leaving = new AbortController();
  const { body, status } = await fetch(`${baseUrl}/__voicectl/page/live?since=${since}`, {
    headers,
    signal: leaving.signal,
  });
  expect(status).toBe(200);
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  const seen: PageMessage[] = [];
  let text = '';
  return {
    seen,
    /** Each event once, as the page shows them: what happens while the tab is told what came before may come again. */
    events: () => {
      const messages = seen.filter((one): one is EventsMessage => one.type === 'events');
      const entries = messages.flatMap((message) => message.entries as { seq: number; type: string }[]);
      return [...new Map(entries.map((entry) => [entry.seq, entry])).values()];
    },
    /** Reads until it finds what is looked for. */
    async until<Found>(check: () => Found | undefined | false): Promise<Found> {
      for (;;) {
        const found = check();
        if (found !== undefined && found !== false) return found;
        const { value, done } = await reader.read();
        if (done) throw new Error('the stream ended');
        const lines = (text + value).split('\n');
        text = lines.pop() ?? '';
        for (const line of lines) seen.push(JSON.parse(line) as PageMessage);
      }
    },
    /** The newest state. */
    state: () => seen.findLast((one): one is StateMessage => one.type === 'state'),
    /** The newest counts. */
    counters: () => seen.findLast((one): one is CountersMessage => one.type === 'counters')?.counters,
    leave: () => leaving.abort(),
  };
}

export type Tab = Awaited<ReturnType<typeof look>>;

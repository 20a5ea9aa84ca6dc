import { systemClock } from '../../../kernel/clock.ts';
import { askEmulator, askJson } from './api.ts';
import { reportOutcome } from './Notice.tsx';
import { hello } from './store.ts';

/** Calls an operation of the control API by its name. */
export async function callOperation<Answer>(
  name: string,
  body?: unknown,
  query?: Record<string, string | number | undefined>,
): Promise<Answer> {
  const path = hello.peek()?.paths[name];
  if (path === undefined) throw new Error('The emulator has not been reached yet');
  return askJson<Answer>('POST', path, { body, ...(query === undefined ? {} : { query }) });
}

/** Calls an operation on streams, and reports which ones it reached, or why there is no `body`. */
export function actOn(
  name: string,
  body: unknown,
  done: string,
  query?: Record<string, string | number | undefined>,
): Promise<void> {
  const act = async () => {
    const { streams } = await callOperation<{ streams: number[] }>(name, await body, query);
    if (streams.length === 0) throw new Error('No stream was reached: it has no token yet or has ended');
    return `${done}: ${streams.length === 1 ? 'stream' : 'streams'} ${streams.join(', ')}`;
  };
  return reportOutcome(act());
}

/** Saves the answer of the emulator as a file. */
export async function download(path: string, fallback: string): Promise<string> {
  const response = await askEmulator('GET', path);
  const named = /filename="([^"]+)"/.exec(response.headers.get('Content-Disposition') ?? '')?.[1];
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = named ?? fallback;
  link.click();
  systemClock.after(60_000, () => URL.revokeObjectURL(link.href));
  return `Saved ${link.download}`;
}

import { controlPrefix, pageTokenHeader } from '../../../protocol/control-paths.ts';

/** A refusal of the emulator, in its words. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const storedAs = 'voicectl-token';

/** The token of this start: from the fragment of the address, and kept when the tab reloads. Undefined if there is none. */
export function readPageToken(): string | undefined {
  const given = location.hash.slice(1);
  if (given !== '') {
    sessionStorage.setItem(storedAs, given);
    // Hidden, because the address may be shown to others.
    history.replaceState(null, '', location.pathname);
  }
  return sessionStorage.getItem(storedAs) ?? undefined;
}

export function forgetToken(): void {
  sessionStorage.removeItem(storedAs);
}

export interface AskOptions {
  /** Sent as JSON; a blob is sent as it is. */
  body?: unknown;
  query?: Record<string, string | number | undefined>;
  signal?: AbortSignal;
}

/** Sends a request to the emulator. `path`: below the prefix of the control API. Throws `Refused`, or what `fetch` throws. */
export async function askEmulator(
  method: 'GET' | 'POST',
  path: string,
  options: AskOptions = {},
): Promise<Response> {
  const { body, query = {}, signal } = options;
  const url = new URL(controlPrefix + path, location.origin);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value));
  const isBlob = body instanceof Blob;
  const response = await fetch(url, {
    method,
    headers: {
      [pageTokenHeader]: readPageToken() ?? '',
      ...(method === 'GET' ? {} : { 'Content-Type': isBlob ? body.type : 'application/json' }),
    },
    ...(method === 'GET' ? {} : { body: isBlob ? body : JSON.stringify(body ?? {}) }),
    ...(signal === undefined ? {} : { signal }),
    referrerPolicy: 'no-referrer',
  });
  if (response.ok) return response;
  const answer = (await response.json().catch(() => undefined)) as
    | { error?: { message?: string } }
    | undefined;
  throw new Refused(response.status, answer?.error?.message ?? `The emulator answers ${response.status}`);
}

/** Sends a request and reads the answer as JSON. */
export async function askJson<Answer>(
  method: 'GET' | 'POST',
  path: string,
  options?: AskOptions,
): Promise<Answer> {
  return (await (await askEmulator(method, path, options)).json()) as Answer;
}

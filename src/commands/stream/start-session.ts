import { createRedactor } from '../../kernel/redact.ts';
import type { SessionEvent } from '../../session/events.ts';
import type { SessionClient, SessionOptions } from '../../session/options.ts';
import type { AudioSink } from '../../session/output.ts';
import { runSession } from '../../session/session.ts';

export interface StartOptions {
  /** Where to record to; undefined: nowhere. */
  folder: string | undefined;
  openSinks(): Promise<AudioSink[]>;
  signal: AbortSignal;
}

/**
 * The events of a session, without its key and token also where the service says them back, recorded where that is
 * asked for. Throws what opening the recording and the sinks throws.
 */
export async function startSession(
  options: Omit<SessionOptions, 'sinks'>,
  { folder, openSinks, signal }: StartOptions,
): Promise<AsyncIterable<SessionEvent>> {
  const recorder = folder === undefined ? undefined : await openRecorder(options, folder);
  // Last of all: a file that is there is emptied only for a session that begins.
  const sinks = await openSinks().catch(async (thrown) => {
    await recorder?.abandon();
    throw thrown;
  });
  const run = (parts: Pick<SessionOptions, 'client' | 'sinks'>) =>
    runConcealed({ ...options, ...parts }, signal);
  if (recorder === undefined) return run({ client: options.client, sinks });
  return recorder.watch(run({ client: recorder.client, sinks: [...sinks, recorder.sink] }));
}

/** What leaves the session goes to screens, lines and reports: a service that says a key back must not put it there. */
async function* runConcealed(options: SessionOptions, signal: AbortSignal): AsyncGenerator<SessionEvent> {
  const { auth, client } = options;
  const redactor = createRedactor();
  redactor.conceal('token' in auth ? auth.token : auth.apiKey);
  const requestToken: SessionClient['requestToken'] = async (request) => {
    const grant = await client.requestToken(request);
    redactor.conceal(grant.token);
    return grant;
  };
  try {
    for await (const event of runSession({ ...options, client: { ...client, requestToken } }, signal)) {
      // These are figures of ours, and many.
      if (event.type === 'audio' || event.type === 'figures') yield event;
      // A key may also be a word of ours.
      else yield { ...redactor.value(event), type: event.type } as SessionEvent;
    }
  } catch (thrown) {
    throw redactor.thrown(thrown);
  }
}

async function openRecorder(options: Omit<SessionOptions, 'sinks'>, folder: string) {
  const { createRecorder } = await import('../../recording/recorder.ts');
  const { client, clock, version, device, baseUrl, wsUrl, sourceName: source, settleMs } = options;
  return createRecorder({ folder, client, clock, version, device, baseUrl, wsUrl, source, settleMs });
}

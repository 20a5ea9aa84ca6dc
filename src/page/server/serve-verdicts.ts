import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, waitUntil } from '../../kernel/clock.ts';
import { newSecret } from '../../kernel/new-secret.ts';
import { createDeferred } from '../../kernel/promises.ts';
import {
  controlPrefix,
  pageAssets,
  pageData,
  pagePath,
  pageTokenHeader,
} from '../../protocol/control-paths.ts';
import { isPageAllowed, isSameSecret } from '../../service/control/page-handler.ts';
import { plainRefusals } from '../../service/http/refusal.ts';
import { createBareServer, loopbackOnly } from '../../service/http/service-server.ts';
import { closeServer, listenOn } from '../../service/open-service.ts';
import type { VerdictNews } from '../../ui/verdict-model.ts';
import { admitRequest } from '../../wire/server/admission.ts';
import { uncachedHeaders } from '../../wire/server/http-answer.ts';
import { readTarget } from '../../wire/server/http-request.ts';
import type { VerdictMessage } from '../messages.ts';
import { sendAsset, sendDocument } from './assets.ts';

/** How long a browser may take to fetch the page of a run that has already ended. */
const firstTabMs = 15_000;
/** How long a tab may take to read the end. */
const lastReadMs = 3_000;

/** The page of a run of verdicts, on its own port. */
export interface ServedVerdicts {
  /** The address for a browser on this machine, with the secret of this start. */
  readonly url: string;
  show(news: VerdictNews): void;
  /** Ends when every tab has read the end. `isAwaited`: a browser was started and may be about to request the page. */
  close(isAwaited: boolean, signal: AbortSignal): Promise<void>;
}

export interface VerdictPageOptions extends Omit<Extract<VerdictMessage, { type: 'verdicts' }>, 'type'> {
  clock: Clock;
}

/** Serves the page of `check` or `drill` on loopback. A tab also gets what happened before it was opened. */
export async function serveVerdicts({ clock, ...start }: VerdictPageOptions): Promise<ServedVerdicts> {
  const token = newSecret();
  const history = createNewsHistory(clock);
  const tabs = new Set<ServerResponse>();
  const firstTab = createDeferred();
  const follow = (response: ServerResponse) => {
    response.writeHead(200, { 'Content-Type': 'application/x-ndjson', ...uncachedHeaders });
    const first: VerdictMessage = { type: 'verdicts', ...start };
    for (const message of [first, ...history.all()]) response.write(line(message));
    tabs.add(response);
    response.on('close', () => tabs.delete(response));
    firstTab.resolve();
  };
  const server = createBareServer();
  server.on('request', (request, response) => {
    answer(request, response, { token, follow }).catch((thrown) => response.destroy(thrown));
  });
  const { port } = await listenOn(server, '127.0.0.1', 0);
  return {
    url: `http://127.0.0.1:${port}${pagePath}#${token}`,
    show(news) {
      history.add(news);
      for (const tab of tabs) tab.write(line(news));
    },
    async close(isAwaited, signal) {
      if (isAwaited && tabs.size === 0) await atMost(firstTab.promise, { clock, ms: firstTabMs, signal });
      const read = [...tabs].map((tab) => new Promise<void>((resolve) => tab.end(resolve)));
      await atMost(Promise.all(read), { clock, ms: lastReadMs, signal });
      await closeServer(server);
    },
  };
}

function line(message: VerdictMessage): string {
  return `${JSON.stringify(message)}\n`;
}

/** What a tab that opens later has to know: the newest message of each kind, and the newest of each verdict. */
function createNewsHistory(clock: Clock) {
  const newest = new Map<string, { news: VerdictNews; at: number }>();
  return {
    add(news: VerdictNews) {
      const key = news.type === 'judged' ? `${news.type} ${news.item.id}` : news.type;
      // Keeps the order of the messages.
      newest.delete(key);
      newest.set(key, { news, at: clock.now() });
    },
    all: () =>
      [...newest.values()].map(({ news, at }): VerdictNews => {
        if (news.type !== 'doing' || news.forMs === undefined) return news;
        return { ...news, forMs: Math.max(0, news.forMs - (clock.now() - at)) };
      }),
  };
}

interface Answering {
  token: string;
  follow: (response: ServerResponse) => void;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { token, follow }: Answering,
): Promise<void> {
  const { refuse, turnDown, wrongMethod } = plainRefusals(response);
  const target = readTarget(request.url ?? '');
  const admitted = admitRequest(request, target, loopbackOnly);
  if (!admitted.ok) return turnDown(admitted);
  const path = admitted.path.startsWith(pagePath) ? admitted.path.slice(controlPrefix.length) : '';
  if (path === '') return refuse(404, 'NOT_FOUND', `The page is at ${pagePath}`);
  if (!isPageAllowed(request, { isSecure: false, path }))
    return refuse(403, 'FORBIDDEN', 'A page of another origin is not allowed');
  if (request.method !== 'GET') return wrongMethod();
  if (path === '/') return sendDocument(response, 'verdicts');
  if (path.startsWith(pageAssets) && (await sendAsset(response, path.slice(pageAssets.length)))) return;
  if (path !== `${pageData}live`) return refuse(404, 'NOT_FOUND', `The page is at ${pagePath}`);
  const given = request.headers[pageTokenHeader];
  if (typeof given === 'string' && isSameSecret(given, token)) follow(response);
  else refuse(403, 'FORBIDDEN', 'The page token is missing or wrong: open the address that voicectl printed');
}

/** Waits for something, at most this long, or until the signal aborts. */
async function atMost(
  what: Promise<unknown>,
  { clock, ms, signal }: { clock: Clock; ms: number; signal: AbortSignal },
): Promise<void> {
  const done = new AbortController();
  const over = waitUntil(clock, clock.now() + ms, AbortSignal.any([signal, done.signal]));
  await Promise.race([what, over]).catch(() => {});
  done.abort();
}

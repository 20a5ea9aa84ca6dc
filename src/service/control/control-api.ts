import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type * as z from 'zod';
import { openRawStream } from '../../audio/raw-source.ts';
import { isWavForm } from '../../audio/wav/wav-header.ts';
import { openWavStream } from '../../audio/wav/wav-source.ts';
import { convertToPcm } from '../../audio/whole-pcm.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { shortText } from '../../kernel/short-text.ts';
import { version } from '../../kernel/version.ts';
import { asyncApiDocument, openApiDocument } from '../../protocol/api-documents.ts';
import {
  advanceSchema,
  type ControlOperation,
  clearFaultsSchema,
  closeSchema,
  controlOperation,
  controlOperations,
  controlPrefix,
  eventSchema,
  type JournalQuery,
  journalQuerySchema,
  messageSchema,
  pageTokenHeader,
  streamsSchema,
} from '../../protocol/control.ts';
import { errorBody, invalidRequestCode } from '../../protocol/error-body.ts';
import type { FaultInput } from '../../protocol/faults.ts';
import { isLoopbackHost } from '../../protocol/loopback.ts';
import { isNestedWithin, parseJson, readableLevels } from '../../protocol/parse-json.ts';
import { describeIssues, readOnce, schemaProblemText } from '../../protocol/schema-problem.ts';
import { cacheControl } from '../../protocol/token-response.ts';
import { plainAddress } from '../../wire/addresses.ts';
import { sendJson } from '../../wire/server/http-answer.ts';
import { readRequestBody, readTarget } from '../../wire/server/http-request.ts';
import type { MetricsEndpoint } from '../metrics/service-metrics.ts';
import { requireEventType } from '../state/journal.ts';
import { isUnavailable, type JournalEntry } from '../state/state.ts';
import { describeFaults } from './control.ts';
import type { AnyControl, ControlMessage } from './emulator-control.ts';
import { isPageAllowed, isSameSecret, needsPageToken, type PageHandler } from './page-handler.ts';

/** Maximum audio to say: over a minute of a 48 kHz stereo WAV. */
const maxSpeechBytes = 16 * 1024 * 1024;
const maxJsonBytes = 1024 * 1024;

/** Thrown for a request that is refused: becomes the answer. */
class ControlRefusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Record<string, string>;

  constructor(status: number, code: string, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export interface ControlApiOptions {
  control: AnyControl;
  /** Bearer secret for requests that are not trusted, as it is now. */
  secret: () => string;
  /** Whether a local request needs no secret unless a proxy forwarded it. */
  trustsThisMachine: boolean;
  /** Whether the emulator has TLS. */
  isSecure: boolean;
  /** Undefined: there is no page. */
  page?: PageHandler | undefined;
  metrics: MetricsEndpoint;
}

/** Answers requests under `controlPrefix`. Their Host and Origin are already checked. */
export type ControlApi = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export function createControlApi(options: ControlApiOptions): ControlApi {
  return async (request, response) => {
    try {
      const { path = '', query: asked = '' } = readTarget(request.url ?? '') ?? {};
      const below = path.slice(controlPrefix.length);
      const query = Object.fromEntries(new URLSearchParams(asked));
      const isScrape = isScrapeBy(request, below, options);
      const isTrusted = trust(request, below, options) || isScrape;
      if (await options.page?.answer({ request, response, path: below, query, isTrusted })) return;
      if (!isTrusted) requireSecret(request, options.secret());
      await answer(below, { request, query, control: options.control }, response, options.metrics);
    } catch (thrown) {
      if (response.headersSent || !isRefusal(thrown)) throw thrown;
      const { status, code, message, headers } = toRefusal(thrown);
      sendJson(response, errorBody(code, message), { status, headers });
    }
  };
}

function isRefusal(thrown: unknown): thrown is ControlRefusal | VoicectlError {
  return thrown instanceof ControlRefusal || thrown instanceof VoicectlError || isUnavailable(thrown);
}

function toRefusal(thrown: ControlRefusal | VoicectlError): ControlRefusal {
  if (thrown instanceof ControlRefusal) return thrown;
  const { message } = thrown;
  if (isUnavailable(thrown)) return new ControlRefusal(503, 'UNAVAILABLE', message);
  return new ControlRefusal(400, invalidRequestCode, message);
}

/** Whether the request needs no secret. Throws for a browser whose page is not ours. */
function trust(
  request: IncomingMessage,
  path: string,
  { trustsThisMachine, isSecure, page }: ControlApiOptions,
): boolean {
  const token = request.headers[pageTokenHeader];
  const hasToken = page !== undefined && typeof token === 'string' && isSameSecret(token, page.token);
  if (!isPageAllowed(request, { isSecure, path }))
    throw new ControlRefusal(403, 'FORBIDDEN', 'A page of another origin may not control the emulator');
  if (!hasToken && (token !== undefined || needsPageToken(request, path)))
    throw new ControlRefusal(
      403,
      'FORBIDDEN',
      'The page token is missing or wrong: open the address that voicectl printed',
    );
  return hasToken || (trustsThisMachine && isFromThisMachine(request));
}

/** Whether this is a scrape by a client that may scrape. */
function isScrapeBy(request: IncomingMessage, path: string, { metrics }: ControlApiOptions): boolean {
  return request.method === 'GET' && path === controlOperations.metrics.path && metrics.isScraper(request);
}

function requireSecret({ headers }: IncomingMessage, secret: string): void {
  if (isSameSecret(headers.authorization ?? '', `Bearer ${secret}`)) return;
  const challenge = { 'WWW-Authenticate': 'Bearer' };
  throw new ControlRefusal(401, 'UNAUTHORIZED', 'The control secret is missing or wrong', challenge);
}

async function answer(
  path: string,
  call: Call,
  response: ServerResponse,
  metrics: MetricsEndpoint,
): Promise<void> {
  const { request, query, control } = call;
  const operation = findOperation(request.method ?? '', path);
  if (operation === 'metrics') {
    if (metrics.refused !== undefined) throw new ControlRefusal(501, 'NOT_IMPLEMENTED', metrics.refused);
    await metrics.answer(request, response);
    return;
  }
  if (operation === 'live') {
    await sendLive(request, response, control, readJournalQuery(query));
    return;
  }
  sendJson(response, await perform(operation, call));
}

function findOperation(method: string, path: string): ControlOperation {
  const names = Object.keys(controlOperations) as ControlOperation[];
  const atPath = names.filter((name) => controlOperation(name).path === path);
  if (atPath.length === 0) throw new ControlRefusal(404, 'NOT_FOUND', 'Unknown operation');
  const found = atPath.find((name) => controlOperation(name).method === method);
  if (found !== undefined) return found;
  const allow = atPath.map((name) => controlOperation(name).method).join(', ');
  throw new ControlRefusal(405, 'METHOD_NOT_ALLOWED', `Use ${allow}`, { Allow: allow });
}

interface Call {
  request: IncomingMessage;
  query: Record<string, string>;
  control: AnyControl;
}

async function perform(
  operation: Exclude<ControlOperation, 'live' | 'metrics'>,
  { request, query, control }: Call,
) {
  switch (operation) {
    case 'health':
      return { status: 'ok', version };
    case 'openapi':
      return openApiDocument(version);
    case 'asyncapi':
      return asyncApiDocument(version);
    case 'state':
      return control.state();
    case 'journal': {
      const { limit, ...filter } = readJournalQuery(query);
      return control.journal.read(filter, limit);
    }
    case 'reset':
      return { streams: await control.reset() };
    case 'clock':
      return showTime(control);
    case 'advance': {
      await control.advance(check(advanceSchema, await readJson(request)).advanceMs);
      return showTime(control);
    }
    case 'send': {
      const { stream, device, ...fields } = check(messageSchema, await readJson(request));
      return { streams: await control.send({ stream, device }, messageOf(fields)) };
    }
    case 'speak': {
      const numbered = query.stream === undefined ? query : { ...query, stream: Number(query.stream) };
      const selector = check(streamsSchema, numbered);
      return { streams: await control.speak(selector, await readSpeech(request)) };
    }
    case 'event': {
      const { event, ...selector } = check(eventSchema, await readJson(request));
      return { streams: await control.event(selector, event) };
    }
    case 'faults':
      return describeFaults(await control.faults.list());
    case 'addFault': {
      const { id, fault, struck } = await control.faults.add((await readJson(request)) as FaultInput);
      return { id, struck, ...fault };
    }
    case 'clearFaults':
      return { cleared: await control.faults.clear(check(clearFaultsSchema, await readJson(request)).id) };
    case 'close': {
      const { code, reason, ...selector } = check(closeSchema, await readJson(request));
      return { streams: await control.close(selector, code, reason) };
    }
  }
}

function messageOf({
  status,
  error,
  json,
}: Omit<z.output<typeof messageSchema>, 'stream' | 'device'>): ControlMessage {
  if (status !== undefined) return { status };
  return error === undefined ? { json } : { error };
}

async function showTime(control: AnyControl) {
  const { nowMs, ...time } = await control.time();
  return { now: new Date(nowMs).toISOString(), ...time };
}

const mostProblems = 5;

function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value, readOnce);
  if (result.success) return result.data;
  const problems = describeIssues(result.error.issues)
    .slice(0, mostProblems)
    .map((problem) => shortText(schemaProblemText(problem)));
  throw new ControlRefusal(400, invalidRequestCode, problems.join('; '));
}

function readJournalQuery(query: Record<string, string>): JournalQuery {
  const read = check(journalQuerySchema, query);
  if (read.type !== undefined) requireEventType(read.type);
  return read;
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const body = await readRequestBody(request, maxJsonBytes);
  if (body === undefined) throw tooLarge(maxJsonBytes);
  const value = body.length === 0 ? {} : parseJson(body.toString());
  if (value === undefined) throw new ControlRefusal(400, invalidRequestCode, 'The body is not valid JSON');
  if (isNestedWithin(value, readableLevels)) return value;
  throw new ControlRefusal(
    400,
    invalidRequestCode,
    `The body is nested deeper than ${readableLevels} levels`,
  );
}

async function readSpeech(request: IncomingMessage): Promise<Buffer> {
  const body = await readRequestBody(request, maxSpeechBytes);
  if (body === undefined) throw tooLarge(maxSpeechBytes);
  const isWav = isWavForm(body.toString('latin1', 0, 4));
  const name = 'the request body';
  const stream = Readable.from([body]);
  return convertToPcm(await (isWav ? openWavStream(stream, { name }) : openRawStream(stream, { name })));
}

function tooLarge(bytes: number): ControlRefusal {
  return new ControlRefusal(413, 'PAYLOAD_TOO_LARGE', `The body is larger than ${bytes} bytes`, {
    Connection: 'close',
  });
}

/** Sends the remembered events after `since`, if it is given, then each new event. */
async function sendLive(
  request: IncomingMessage,
  response: ServerResponse,
  { journal }: AnyControl,
  { limit, ...filter }: JournalQuery,
): Promise<void> {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': cacheControl });
  response.write(': following\n\n');
  let lastSeq = 0;
  const write = (entry: JournalEntry) => {
    if (entry.seq <= lastSeq) return;
    lastSeq = entry.seq;
    response.write(`id: ${entry.seq}\nevent: ${entry.type}\ndata: ${JSON.stringify(entry)}\n\n`);
  };
  let mostUnread = Number.POSITIVE_INFINITY;
  let send = write;
  // New events wait until the past ones are sent.
  const meanwhile: JournalEntry[] = [];
  if (filter.since !== undefined) send = (entry) => meanwhile.push(entry);
  const unfollow = journal.follow(filter, (entry) => {
    // A follower that does not read is dropped, so that nothing piles up for it.
    if (response.writableLength > mostUnread) response.destroy();
    else send(entry);
  });
  request.on('close', unfollow);
  response.on('close', unfollow);
  const past = filter.since === undefined ? [] : await journal.read(filter, limit);
  for (const entry of [...past, ...meanwhile]) write(entry);
  send = write;
  // No limit here: the journal limits the past events, and the follower has had no time to read them.
  mostUnread = response.writableLength + maxUnreadBytes;
}

const maxUnreadBytes = 1024 * 1024;

/** Headers that proxies, balancers and tunnels add: RFC 7239, RFC 9110 (section 7.6.3), and non-standard ones. */
const forwarding = /^(?:forwarded|via|x-real-ip|x-(?:forwarded|original|envoy)\b.*|.*client-ip|cf-.*)$/;

/** Whether a request seems to come directly from a program of this machine, not through a proxy. */
function isFromThisMachine({ headers, socket }: IncomingMessage): boolean {
  const peer = plainAddress(socket.remoteAddress);
  return isLoopbackHost(peer) && !Object.keys(headers).some((name) => forwarding.test(name));
}

import type { Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import Client from 'undici/lib/dispatcher/client.js';
import { VoicectlError } from '../../kernel/errors.ts';
import { createRedactor, type Redactor } from '../../kernel/redact.ts';
import {
  type ControlAnswers,
  type ControlOperation,
  controlOperation,
  controlPrefix,
  journalEntrySchema,
  parseControlAnswer,
} from '../../protocol/control.ts';
import { readError } from '../../protocol/error-body.ts';
import { parseJson } from '../../protocol/parse-json.ts';
import { serviceUrl } from '../../protocol/paths.ts';
import { jsonMediaType } from '../../protocol/token-request.ts';
import { isOwnAddress } from '../addresses.ts';
import { readBody, tooLong } from './body.ts';
import { connectionError } from './connection-error.ts';
import { type ClientLeg, isSuccess, requestFinished } from './http.ts';

export interface ControlTarget extends Pick<ClientLeg, 'ca' | 'signal'> {
  baseUrl: string;
  /** Bearer secret, if the emulator requires one. */
  secret: string | undefined;
}

export interface ControlCall {
  query?: Record<string, string | number | undefined>;
  /** Sent as JSON; bytes are sent unchanged. */
  body?: unknown;
}

/**
 * Calls one operation of an emulator's control API and returns its answer. Fields that a newer emulator adds are
 * dropped. Throws `VoicectlError`:
 * `insecure-target` (not this machine), `connect-failed`, `auth-refused` (the secret), `usage` (invalid call), `protocol-violation`.
 */
export async function callControl<Name extends keyof ControlAnswers>(
  target: ControlTarget,
  name: Name,
  call: ControlCall = {},
): Promise<ControlAnswers[Name]> {
  const caller = createControlCaller(target);
  try {
    return await caller.call(name, call);
  } finally {
    await caller.end();
  }
}

/** For several calls, one after the other, on one connection. */
export interface ControlCaller {
  /** The same as `callControl`. */
  call<Name extends keyof ControlAnswers>(name: Name, call?: ControlCall): Promise<ControlAnswers[Name]>;
  /** Ends the connection. */
  end(): Promise<void>;
}

export function createControlCaller(target: ControlTarget): ControlCaller {
  const redactor = redactorFor(target);
  const client = clientFor(target);
  return {
    async call(name, call = {}) {
      const body = await send(client, target, name, call).catch((thrown) => {
        throw redactor.thrown(thrown);
      });
      try {
        const { text, failure } = await readBody(body, target.baseUrl, maxAnswerBytes);
        if (failure !== undefined) throw failure;
        return redactor.value(parseControlAnswer(name, JSON.parse(text)));
      } catch (cause) {
        target.signal.throwIfAborted();
        throw redactor.thrown(cause instanceof VoicectlError ? cause : noEmulator(target, cause));
      }
    },
    end: () => client.destroy(requestFinished),
  };
}

/** An emulator answers at once. */
const answerMs = 15_000;
/** Far more than a full journal. */
const maxAnswerBytes = 16 * 1024 * 1024;
/** Far more than one event: its texts are short, except for a message of up to 1 MiB. */
const maxEventBytes = 4 * 1024 * 1024;

/** An answer may repeat the secret. */
function redactorFor({ secret }: ControlTarget): Redactor {
  const redactor = createRedactor();
  if (secret !== undefined) redactor.conceal(secret);
  return redactor;
}

function noEmulator({ baseUrl }: ControlTarget, cause: unknown): VoicectlError {
  return new VoicectlError('protocol-violation', `${baseUrl} is not a voicectl emulator`, { cause });
}

/** Events of the emulator, as they happen. Ends when the emulator does. */
export async function* followJournal(
  target: ControlTarget,
  query: ControlCall['query'] = {},
): AsyncGenerator<unknown> {
  const redactor = redactorFor(target);
  const client = clientFor(target);
  const decoder = new TextDecoder();
  let text = '';
  try {
    const body = await send(client, target, 'live', { query }).catch((thrown) => {
      throw redactor.thrown(thrown);
    });
    for await (const chunk of untilCut(body, target.signal)) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      if (text.length > maxEventBytes) throw tooLong(target.baseUrl, maxEventBytes);
      for (const block of blocks) {
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (data !== undefined) yield redactor.value(parseEntry(data, target));
      }
    }
  } finally {
    await client.destroy(requestFinished);
  }
}

function parseEntry(data: string, target: ControlTarget): unknown {
  const { success, data: entry } = journalEntrySchema.safeParse(parseJson(data));
  if (!success) throw noEmulator(target, undefined);
  return entry;
}

/** The chunks of a body that ends only with its connection. Throws the signal's reason. */
async function* untilCut(body: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch {
    signal.throwIfAborted();
  }
}

function clientFor({ baseUrl, ca }: ControlTarget): Client {
  const { origin } = new URL(serviceUrl(baseUrl, controlPrefix));
  return new Client(origin, { connect: { ca }, headersTimeout: answerMs });
}

async function send(
  client: Client,
  { baseUrl, secret, signal }: ControlTarget,
  name: ControlOperation,
  { query = {}, body }: ControlCall,
): Promise<Dispatcher.ResponseData['body']> {
  const { method, path } = controlOperation(name);
  const url = new URL(serviceUrl(baseUrl, controlPrefix + path));
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(key, String(value));
  }
  if (!isOwnAddress(url.hostname)) {
    throw new VoicectlError(
      'insecure-target',
      `${url.host} is not this machine; an emulator can be controlled only from its own machine`,
      {
        hint: 'The secret is not sent to other machines. Use an address of this machine with --base-url.',
      },
    );
  }
  const isBytes = body instanceof Uint8Array;
  // A followed journal is silent while nothing happens.
  const bodyTimeout = name === 'live' ? 0 : answerMs;
  try {
    const response = await request.call(client, {
      method,
      path: url.pathname + url.search,
      signal,
      bodyTimeout,
      headers: {
        ...(secret === undefined ? {} : { Authorization: `Bearer ${secret}` }),
        ...(body === undefined
          ? {}
          : { 'Content-Type': isBytes ? 'application/octet-stream' : jsonMediaType }),
      },
      ...(body === undefined ? {} : { body: isBytes ? body : JSON.stringify(body) }),
    });
    if (isSuccess(response.statusCode)) return response.body;
    const refusal = await readBody(response.body, url.host);
    throw refused(response.statusCode, parseJson(refusal.text), baseUrl);
  } catch (thrown) {
    if (signal.aborted) throw signal.reason;
    throw thrown instanceof VoicectlError ? thrown : connectionError(thrown, url.host);
  }
}

function refused(status: number, body: unknown, baseUrl: string): VoicectlError {
  const { code, message } = readError(body);
  const details = { status, serviceCode: code };
  if (status === 401) {
    return new VoicectlError('auth-refused', message ?? 'The control secret was refused', {
      hint: 'Set VOICECTL_CONTROL_SECRET to the secret that `voicectl serve` printed, or use --control-secret-file.',
      details,
    });
  }
  if (message === undefined || status === 404) {
    return new VoicectlError(
      'protocol-violation',
      `${baseUrl} is not a voicectl emulator (status ${status})`,
      { details },
    );
  }
  return new VoicectlError('usage', `The emulator refused: ${message}`, { details });
}

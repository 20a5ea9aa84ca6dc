import { VoicectlError } from '../errors.ts';
import { type ControlOperation, controlOperation, controlPrefix } from '../protocol/control.ts';
import { readError } from '../protocol/error-body.ts';
import { isLoopbackHost } from '../protocol/loopback.ts';
import { serviceUrl } from '../protocol/paths.ts';
import { jsonMediaType } from '../protocol/token-request.ts';
import { connectionError } from './connection-error.ts';

export interface ControlTarget {
  baseUrl: string;
  /** Bearer secret, where the emulator asks for one. */
  secret: string | undefined;
  signal: AbortSignal;
}

export interface ControlCall {
  query?: Record<string, string | number | undefined>;
  /** Sent as JSON, or as it is where it is bytes. */
  body?: unknown;
}

/**
 * Calls one operation of an emulator's control API, and returns the parsed answer. Throws `VoicectlError`:
 * `insecure-target` (not this machine), `connect-failed`, `auth-refused` (the secret), `usage` (refused as wrong), `protocol-violation`.
 */
export async function callControl(
  target: ControlTarget,
  name: ControlOperation,
  call: ControlCall = {},
): Promise<unknown> {
  const response = await request(target, name, call);
  return response.json().catch((cause) => {
    throw new VoicectlError('protocol-violation', `${target.baseUrl} is not a voicectl emulator`, { cause });
  });
}

/** Events of the emulator, as they happen. Ends when the emulator does. */
export async function* followJournal(
  target: ControlTarget,
  query: ControlCall['query'] = {},
): AsyncGenerator<unknown> {
  const { body } = await request(target, 'live', { query });
  let text = '';
  // Node's stream can be iterated, which the type of fetch does not know.
  const chunks = (body ?? []) as unknown as AsyncIterable<Uint8Array>;
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined) yield JSON.parse(data);
    }
  }
}

async function request(
  { baseUrl, secret, signal }: ControlTarget,
  name: ControlOperation,
  { query = {}, body }: ControlCall,
) {
  const { method, path } = controlOperation(name);
  const url = new URL(serviceUrl(baseUrl, controlPrefix + path));
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(key, String(value));
  }
  if (!isLoopbackHost(url.hostname)) {
    throw new VoicectlError(
      'insecure-target',
      `${url.host} is not this machine, and an emulator is controlled from its own`,
      {
        hint: 'The secret is not sent elsewhere. Give a loopback address with --base-url.',
      },
    );
  }
  const isBytes = body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    signal,
    redirect: 'error',
    headers: {
      ...(secret === undefined ? {} : { Authorization: `Bearer ${secret}` }),
      ...(body === undefined ? {} : { 'Content-Type': isBytes ? 'application/octet-stream' : jsonMediaType }),
    },
    ...(body === undefined ? {} : { body: isBytes ? body : JSON.stringify(body) }),
  }).catch((thrown) => {
    if (signal.aborted) throw signal.reason;
    throw connectionError(thrown, url.host);
  });
  if (!response.ok) throw refused(response.status, await response.json().catch(() => undefined), baseUrl);
  return response;
}

function refused(status: number, body: unknown, baseUrl: string): VoicectlError {
  const { code, message } = readError(body);
  const details = { status, serviceCode: code };
  if (status === 401) {
    return new VoicectlError('auth-refused', message ?? 'The control secret was refused', {
      hint: 'Set VOICECTL_CONTROL_SECRET to what `voicectl serve` printed, or use --control-secret-file.',
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

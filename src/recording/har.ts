import type { Entry, Har, Header } from 'har-format';
import { VoicectlError } from '../kernel/errors.ts';
import { redacted } from '../kernel/redact.ts';
import { version } from '../kernel/version.ts';
import { jsonMediaType } from '../protocol/token-request.ts';
import type { WireLine } from './format.ts';
import type { Recording } from './read-recording.ts';
import { pcmOf } from './replay.ts';

type WebSocketMessage = NonNullable<Entry['_webSocketMessages']>[number];
type Line<Type extends WireLine['type']> = Extract<WireLine, { type: Type }>;

/** In characters: an hour of one voice and its replies. JavaScript cannot make a string twice as long. */
const longestText = 250_000_000;
/** Characters of a message without its data. */
const messageOverhead = 200;

/** Of both requests. */
const httpVersion = 'HTTP/1.1';

/**
 * The token request and the WebSocket as HAR 1.2, with messages as in Chrome's developer tools: text unchanged, binary as
 * base64. Key and token are left out, and facts that a recording lacks are empty or −1. Throws `bad-input` if the result
 * would be too large.
 */
export function recordingHar(recording: Recording): Har {
  requireRoom(recording.wire);
  const epoch = Date.parse(recording.manifest?.startedAt ?? '1970-01-01T00:00:00.000Z');
  const entries = recording.wire.flatMap((line) => {
    if (line.type === 'token-request') return [tokenEntry(line, epoch)];
    return line.type === 'upgrade' ? [streamEntry(line, recording, epoch)] : [];
  });
  return {
    log: {
      version: '1.2',
      creator: { name: 'voicectl', version: recording.manifest?.version ?? version },
      entries,
    },
  };
}

function requireRoom(wire: readonly WireLine[]): void {
  const length = wire.reduce((sum, line) => {
    if (line.type === 'audio') return sum + messageOverhead + (line.bytes / 3) * 4;
    return sum + messageOverhead + (line.type === 'text' ? JSON.stringify(line.text).length : 0);
  }, 0);
  if (length <= longestText) return;
  const megabytes = (characters: number) => Math.round(characters / 1_000_000);
  throw new VoicectlError(
    'bad-input',
    `The recording is too long: its HAR would be ${megabytes(length)} MB; the limit is ${megabytes(longestText)} MB`,
  );
}

function tokenEntry(line: Line<'token-request'>, epoch: number): Entry {
  const { headers = {}, status = 0, totalMs, firstByteMs = totalMs, attempts = 1 } = line;
  const length = Number.parseInt(headers['content-length'] ?? '-1', 10);
  const rest = Math.max(0, totalMs - firstByteMs);
  const text = JSON.stringify({ apiKey: redacted, deviceId: line.device });
  return {
    startedDateTime: isoTime(epoch + line.t),
    time: totalMs,
    request: {
      method: 'POST',
      url: line.url,
      httpVersion,
      cookies: [],
      headers: [
        { name: 'Content-Type', value: jsonMediaType },
        { name: 'Accept', value: jsonMediaType },
      ],
      queryString: [],
      postData: { mimeType: jsonMediaType, text },
      headersSize: -1,
      bodySize: -1,
    },
    response: {
      ...responseOf(status, listHeaders(headers)),
      content: {
        size: length,
        mimeType: headers['content-type'] ?? '',
        comment: 'The body is not recorded: it contained the token.',
      },
      bodySize: length,
    },
    cache: {},
    // The first byte is known only for the last attempt; earlier attempts count as blocked.
    timings: {
      blocked: attempts > 1 ? rest : -1,
      dns: -1,
      connect: -1,
      send: 0,
      wait: firstByteMs,
      receive: attempts > 1 ? 0 : rest,
      ssl: -1,
    },
    ...(attempts > 1 ? { comment: `Attempt ${attempts}; the earlier ones were refused or failed.` } : {}),
    ...errorOf(line),
  };
}

function streamEntry(line: Line<'upgrade'>, recording: Recording, epoch: number): Entry {
  return {
    startedDateTime: isoTime(epoch + line.t),
    time: line.totalMs,
    request: {
      method: 'GET',
      url: line.url,
      httpVersion,
      cookies: [],
      headers: [],
      queryString: [],
      headersSize: -1,
      bodySize: 0,
    },
    response: responseOf(line.status ?? 0, []),
    cache: {},
    timings: { send: 0, wait: line.totalMs, receive: 0 },
    _resourceType: 'websocket',
    _webSocketMessages: listMessages(recording, epoch),
    ...closeOf(recording.wire),
    ...errorOf(line),
  };
}

const opcodes = { text: 1, binary: 2 };

function listMessages(recording: Recording, epoch: number): WebSocketMessage[] {
  const secondsOf = (t: number) => (epoch + t) / 1000;
  return recording.wire.flatMap((line): WebSocketMessage[] => {
    const time = secondsOf(line.t);
    if (line.type === 'token') return [{ type: 'send', time, opcode: opcodes.text, data: redacted }];
    if (line.type === 'text')
      return [
        { type: line.direction === 'out' ? 'send' : 'receive', time, opcode: opcodes.text, data: line.text },
      ];
    if (line.type !== 'audio') return [];
    const pcm = pcmOf(recording, line);
    const type = line.direction === 'out' ? 'send' : 'receive';
    return [{ type, time, opcode: opcodes.binary, data: pcm.toString('base64') }];
  });
}

function responseOf(status: number, headers: Header[]): Entry['response'] {
  return {
    status,
    statusText: '',
    httpVersion,
    cookies: [],
    headers,
    content: { size: 0, mimeType: '' },
    redirectURL: '',
    headersSize: -1,
    bodySize: -1,
  };
}

function listHeaders(headers: Record<string, string>): Header[] {
  return Object.entries(headers).map(([name, value]) => ({ name, value }));
}

function closeOf(wire: readonly WireLine[]): Pick<Entry, 'comment'> {
  const close = wire.find((line) => line.type === 'close');
  if (close === undefined) return {};
  const by = close.by === 'client' ? 'device' : 'service';
  return { comment: `Closed by the ${by} with ${close.code} ${close.reason}`.trimEnd() };
}

function errorOf({ error }: { error?: string | undefined }): { _error?: string } {
  return error === undefined ? {} : { _error: error };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

import { once } from 'node:events';
import { WebSocket } from 'ws';
import { makeTone, toPcm } from '../audio/tone.ts';

/** How a device behaves; a bad one differs in one thing from the good one. */
export interface DeviceBehaviour {
  request(fields: object): { method?: string; body: string; type?: string };
  /** What is sent for the token. */
  present(token: string): string | Buffer;
  /** Sent before the confirmation, after the token. */
  early: readonly Buffer[];
  audio: readonly (Buffer | string)[];
  /** Connections, each with a token. */
  times: number;
  keepsToken: boolean;
  /** How long it waits for the confirmation, milliseconds; undefined: until the stream ends. A busy service takes its time. */
  confirmWithinMs: number | undefined;
  close(socket: WebSocket): void;
}

const tone = toPcm(makeTone({ hz: 440, rate: 16_000, seconds: 0.4 }));

/** Audio in messages of 20 ms. */
export function framesOf(pcm: Buffer): Buffer[] {
  return Array.from({ length: Math.floor(pcm.length / 640) }, (_, at) =>
    pcm.subarray(640 * at, 640 * at + 640),
  );
}

export const goodDevice: DeviceBehaviour = {
  request: (fields) => ({ body: JSON.stringify(fields) }),
  present: (token) => token,
  early: [],
  audio: framesOf(tone),
  times: 1,
  keepsToken: false,
  confirmWithinMs: 1_500,
  close: (socket) => socket.close(1000),
};

/** After the audio: a service may have nothing to say. */
const replyWithinMs = 300;

/** Holds conversations as a device would: token, stream, audio, and the reply to it; then it closes. */
export async function converse(
  { baseUrl, wsUrl }: { baseUrl: string; wsUrl: string },
  change: Partial<DeviceBehaviour> = {},
): Promise<void> {
  const device = { ...goodDevice, ...change };
  let token = '';
  for (let time = 0; time < device.times; time += 1) {
    if (token === '' || !device.keepsToken) token = await ask(baseUrl, device);
    // Without a token there is nothing to connect with.
    if (token === '') continue;
    const socket = new WebSocket(`${wsUrl}/voice-stream`);
    socket.on('error', () => {});
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const isOpen = await Promise.race([once(socket, 'open').then(() => true), closed.then(() => false)]);
    if (!isOpen) continue;
    await speak(socket, token, device, closed);
    await closed;
  }
}

async function ask(baseUrl: string, { request }: DeviceBehaviour): Promise<string> {
  const { method = 'POST', body, type = 'application/json' } = request({ apiKey: 'key-1', deviceId: 'lamp' });
  const answer = await fetch(`${baseUrl}/api/websocket-voice/token`, {
    method,
    headers: { 'Content-Type': type },
    ...(method === 'GET' ? {} : { body }),
    redirect: 'manual',
  });
  const answered = (await answer.json().catch(() => ({}))) as { token?: unknown };
  return typeof answered.token === 'string' ? answered.token : '';
}

/** Waits for the next message, or the end of the stream, or within `ms` that nothing comes. */
function next(socket: WebSocket, closed: Promise<unknown>, ms: number | undefined): Promise<unknown> {
  const message = once(socket, 'message').catch(() => {});
  const late = ms === undefined ? [] : [new Promise((resolve) => setTimeout(resolve, ms))];
  return Promise.race([message, closed, ...late]);
}

async function speak(
  socket: WebSocket,
  token: string,
  { present, early, audio, confirmWithinMs, close }: DeviceBehaviour,
  closed: Promise<unknown>,
): Promise<void> {
  const first = present(token);
  const heard = next(socket, closed, confirmWithinMs);
  socket.send(first);
  for (const frame of early) socket.send(frame);
  const confirmed = String(await heard).includes('service_voice_connected');
  if (socket.readyState !== socket.OPEN) return;
  if (!confirmed) {
    close(socket);
    return;
  }
  const reply = next(socket, closed, replyWithinMs);
  for (const frame of audio) socket.send(frame);
  await reply;
  if (socket.readyState === socket.OPEN) close(socket);
}

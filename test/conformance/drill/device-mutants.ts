import type { MiniDevice } from '../../helpers/mini-device.ts';
import { lawfulDevice } from '../../helpers/mini-device.ts';
import { writeRaw } from '../../helpers/write-raw.ts';

/** A device that breaks one rule. */
export interface DeviceMutant {
  /** The rule that must fail. */
  rule: string;
  does: string;
  change: Partial<MiniDevice>;
  /** Rules that are broken with it. */
  also?: readonly string[];
  /** The situation of the rule in which it shows, where the device is as any other in the others. */
  showsIn?: string;
  /** Whether it shows over TLS only. */
  tls?: true;
}

const { retryMs, reconnectMs } = lawfulDevice;
const fast = 60;
const isStatus = (data: Buffer) => data.includes('"status"');

/** One line each. */
export const deviceMutants: readonly DeviceMutant[] = [
  { rule: 'D1', does: 'asks with GET', change: { method: 'GET' } },
  { rule: 'D1', does: 'sends a form', change: { contentType: 'application/x-www-form-urlencoded' } },
  { rule: 'D1', does: 'leaves deviceId out', change: { fields: ({ apiKey }) => ({ apiKey }) } },
  {
    rule: 'D2',
    does: 'puts Bearer before the token',
    change: { present: (token) => ({ data: `Bearer ${token}`, binary: false }) },
  },
  {
    rule: 'D2',
    does: 'wraps the token in JSON',
    change: { present: (token) => ({ data: JSON.stringify({ token }), binary: false }) },
  },
  {
    rule: 'D2',
    does: 'sends the token in binary',
    change: { present: (token) => ({ data: Buffer.from(token), binary: true }) },
  },
  { rule: 'D3', does: 'keeps its token after a restart', change: { keepsToken: (code) => code === 1012 } },
  { rule: 'D4', does: 'does not wait for the confirmation', change: { isHasty: true } },
  {
    rule: 'D5',
    does: 'sends half samples',
    change: { frame: (index) => lawfulDevice.frame(index).subarray(1) },
  },
  {
    rule: 'D5',
    does: 'sends twice as fast',
    change: { frame: (index) => Buffer.concat([lawfulDevice.frame(index), lawfulDevice.frame(index + 1)]) },
  },
  {
    rule: 'D6',
    does: 'does not wait as told',
    also: ['D17'],
    change: {
      retryMs: (attempt, status, afterMs) =>
        status === 429 ? 400 * 1.5 ** attempt : retryMs(attempt, status, afterMs),
    },
  },
  {
    rule: 'D6',
    does: 'asks at a steady pace',
    change: {
      retryMs: (attempt, status, afterMs) =>
        status === 429 ? Math.max(1_000, afterMs) : retryMs(attempt, status, afterMs),
    },
  },
  {
    rule: 'D7',
    does: 'storms after a refusal',
    change: {
      retryMs: (attempt, status, afterMs) => (status === 429 ? retryMs(attempt, status, afterMs) : fast),
    },
  },
  {
    rule: 'D7',
    does: 'connects without a token',
    showsIn: 'D7-401',
    change: {
      retryMs: (attempt, status, afterMs) => (status === 401 ? undefined : retryMs(attempt, status, afterMs)),
    },
  },
  { rule: 'D8', does: 'presents a refused token again', change: { keepsToken: (code) => code === 4401 } },
  { rule: 'D9', does: 'reconnects at a steady pace', change: { reconnectMs: () => 700 } },
  {
    rule: 'D9',
    does: 'does not come back after 1001',
    showsIn: 'D9-1001',
    change: { reconnectMs: (attempt, code) => (code === 1001 ? 1_000_000 : reconnectMs(attempt, code)) },
  },
  { rule: 'D10', does: 'never pings', change: { deadAfterMs: 1_000_000 } },
  {
    rule: 'D11',
    does: 'closes at an unknown kind',
    showsIn: 'D11-kind',
    change: { minds: (data, isBinary) => !isBinary && data.includes('unheard') },
  },
  {
    rule: 'D11',
    does: 'closes at unknown fields',
    showsIn: 'D11-fields',
    change: { minds: (data, isBinary) => !isBinary && isStatus(data) && data.includes('confidence') },
  },
  {
    rule: 'D11',
    does: 'closes at unknown fields of the confirmation',
    showsIn: 'D11-fields',
    change: { minds: (data, isBinary) => !isBinary && data.includes('greeting') },
  },
  {
    rule: 'D11',
    does: 'closes at an odd size',
    showsIn: 'D11-odd',
    change: { minds: ({ length }, isBinary) => isBinary && length % 2 === 1 && length > 1 },
  },
  {
    rule: 'D11',
    does: 'closes at a huge message',
    showsIn: 'D11-huge',
    change: { minds: ({ length }, isBinary) => isBinary && length > 65_536 },
  },
  {
    rule: 'D11',
    does: 'closes at a tiny message',
    showsIn: 'D11-tiny',
    change: { minds: ({ length }, isBinary) => isBinary && length === 2 },
  },
  {
    rule: 'D11',
    does: 'closes at an empty message',
    showsIn: 'D11-empty',
    change: { minds: ({ length }, isBinary) => isBinary && length === 0 },
  },
  {
    rule: 'D12',
    does: 'is silent while it hears',
    change: { hushMs: (_data, isBinary) => (isBinary ? 500 : 0) },
  },
  {
    rule: 'D12',
    does: 'is silent while the service says that it speaks',
    change: { hushMs: (data, isBinary) => (!isBinary && data.includes('"speaking"') ? 20_000 : 0) },
  },
  { rule: 'D13', does: 'hangs up without a close frame', change: { end: (socket) => socket.terminate() } },
  {
    rule: 'D13',
    does: 'ends with a frame that violates the WebSocket protocol',
    change: { end: (socket) => writeRaw(socket, Buffer.of(0xf2, 0x80, 0, 0, 0, 0)) },
  },
  { rule: 'D13', does: 'closes with another code', change: { end: (socket) => socket.close(3000) } },
  {
    rule: 'D13',
    does: 'leaves an orphan',
    change: { giveUp: (socket, why) => void (why === 'dead' && socket.terminate()) },
  },
  { rule: 'D14', does: 'follows a redirect with its key', change: { followsRedirects: true } },
  { rule: 'D14', does: 'trusts any certificate', change: { trustsAnybody: true }, tls: true },
  { rule: 'D15', does: 'answers no ping', change: { answersPings: false } },
  { rule: 'D16', does: 'never answers a close', change: { answerClose: () => {} } },
  { rule: 'D16', does: 'hangs up at a close', change: { answerClose: (socket) => socket.terminate() } },
  {
    rule: 'D16',
    does: 'sends on for a second after a close',
    change: { answerClose: (_socket, close, clock) => void clock.after(1_000, close) },
  },
  {
    rule: 'D17',
    does: 'does not read dates',
    change: { readRetryAfter: (text) => 1_000 * Number(text) || 0 },
  },
];

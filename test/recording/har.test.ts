import { expect, test } from 'vitest';
import { recordingHar } from '../../src/recording/har.ts';
import { message, setUpBundles } from '../helpers/bundles.ts';

const bundles = setUpBundles();
const startedAt = Date.parse('2026-01-01T00:00:00.000Z');

test('it has the messages in order, like Chrome, and no secrets', async () => {
  const recording = await bundles.write((writer) => {
    writer.wire({ t: 80, type: 'upgrade', url: 'ws://voice.test/voice-stream', status: 101, totalMs: 9.5 });
    writer.wire({ t: 90, type: 'token', bytes: 300 });
    message(writer, 100, 'connected', { type: 'service_voice_connected' });
    writer.audio('out', 120, Buffer.from([1, 2, 3, 4]));
    writer.audio('in', 2_000, Buffer.from([5, 6]));
    writer.wire({ t: 2_500, type: 'close', by: 'service', code: 1011, reason: 'oops' });
  });
  const [entry] = recordingHar(recording).log.entries;
  const at = (t: number) => (startedAt + t) / 1000;
  expect(entry).toMatchObject({
    startedDateTime: '2026-01-01T00:00:00.080Z',
    time: 9.5,
    request: { method: 'GET', url: 'ws://voice.test/voice-stream', headersSize: -1 },
    response: { status: 101 },
    _resourceType: 'websocket',
    comment: 'Closed by the service with 1011 oops',
  });
  expect(entry?._webSocketMessages).toEqual([
    { type: 'send', time: at(90), opcode: 1, data: '[redacted]' },
    { type: 'receive', time: at(100), opcode: 1, data: '{"type":"service_voice_connected"}' },
    { type: 'send', time: at(120), opcode: 2, data: 'AQIDBA==' },
    { type: 'receive', time: at(2_000), opcode: 2, data: 'BQY=' },
  ]);
});

test('a token request without an answer has status 0, and its error', async () => {
  const url = 'http://voice.test/api/websocket-voice/token';
  const recording = await bundles.write((writer) =>
    writer.wire({ t: 3, type: 'token-request', url, device: 'd1', totalMs: 7, error: 'Connection refused' }),
  );
  const { entries } = recordingHar(recording).log;
  expect(entries).toMatchObject([
    {
      time: 7,
      request: { method: 'POST', url, postData: { text: '{"apiKey":"[redacted]","deviceId":"d1"}' } },
      response: { status: 0, bodySize: -1 },
      timings: { send: 0, wait: 7, receive: 0 },
      _error: 'Connection refused',
    },
  ]);
});

test('the times add up to the total, even after several attempts', async () => {
  const recording = await bundles.write((writer) => {
    for (const attempts of [1, 3]) {
      writer.wire({
        t: 0,
        type: 'token-request',
        url: 'http://voice.test/token',
        device: 'd1',
        status: 200,
        headers: {},
        attempts,
        firstByteMs: 10,
        totalMs: 500,
      });
    }
  });
  for (const { time, timings } of recordingHar(recording).log.entries) {
    const { blocked = -1, send = 0, wait, receive } = timings;
    expect(Math.max(0, blocked) + send + wait + receive).toBe(time);
  }
});

test.each([
  ['audio', { t: 1, type: 'audio', direction: 'in', bytes: 200_000_000, at: 0 }],
  ['messages', { t: 1, type: 'text', text: 'x'.repeat(1_000_000) }],
] as const)('more %s than fit into a file are refused', async (_what, line) => {
  const recording = await bundles.write((writer) => {
    writer.wire({ t: 80, type: 'upgrade', url: 'ws://voice.test/voice-stream', status: 101, totalMs: 9.5 });
  });
  const wire = [...recording.wire, ...Array.from({ length: 300 }, () => line)];
  expect(() => recordingHar({ ...recording, wire })).toThrow(
    /is too long: its HAR would be \d+ MB; the limit is 250 MB/,
  );
});

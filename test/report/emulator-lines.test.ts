import { describe, expect, test } from 'vitest';
import { emulatorLines } from '../../src/report/emulator-lines.ts';
import { startLines } from '../../src/report/start-lines.ts';
import { createStyle } from '../../src/report/style.ts';
import type { EmulatorEvent } from '../../src/service/events.ts';

const plain = createStyle(false);
const evil = '\u001b[2J\u009b\u202e\r\n';
const device = `d ${evil}`;
const closed = {
  jti: 'j',
  durationMs: 1500,
  framesIn: 1,
  bytesIn: 640,
  framesOut: 2,
  bytesOut: 1280,
  oddMessages: 0,
  emptyMessages: 0,
};

const events: [EmulatorEvent, RegExp][] = [
  [
    { t: 1, type: 'token-issued', device, jti: 'j', exp: 1, remaining: 59, resetAtMs: 1 },
    /↓ d \S+ {2}token {2}issued, 59 requests left$/,
  ],
  [
    { t: 1, type: 'request-refused', cause: 'unauthorized', status: 401, code: 'X', message: evil, device },
    /! d \S+ {2}refused {2}401 X: /,
  ],
  [
    { t: 1, type: 'request-refused', cause: 'notFound', status: 404, code: 'X', message: 'no', path: evil },
    /404 X: no \(/,
  ],
  [
    { t: 1, type: 'request-refused', cause: 'invalidRequest', status: 400, code: 'X', message: 'no' },
    /400 X: no$/,
  ],
  [{ t: 1, type: 'tls-failed', remote: '127.0.0.1', why: evil }, /! tls {2}failed: .* \(127\.0\.0\.1\)$/],
  [
    { t: 1, type: 'stream-opened', stream: 3, remote: '127.0.0.1' },
    /↑ stream 3 {2}opened {2}from 127\.0\.0\.1$/,
  ],
  [
    { t: 1, type: 'stream-authorised', stream: 3, device, jti: 'j', connections: 2 },
    /↑ stream 3 d \S+ {2}authorised {2}2 connections open$/,
  ],
  [
    { t: 1, type: 'message-sent', stream: 3, device, body: { msg: 'transcript' }, kind: 'transcript' },
    /transcript {2}/,
  ],
  [
    { t: 1, type: 'message-sent', stream: 3, device, body: { type: evil } },
    /↓ stream 3 d \S+ {2}\S+ {2}\{"type":/,
  ],
  [{ t: 1, type: 'text-received', stream: 3, device, bytes: 5 }, /text {2}5 bytes after the token$/],
  [{ t: 1, type: 'turn-started', stream: 3, device, atMs: 180 }, /speech starts at 0\.18 s/],
  [
    { t: 1, type: 'turn-ended', stream: 3, device, atMs: 1960, turnMs: 1780, agoMs: 720 },
    /turn {2}speech ends at 1\.96 s, after 1\.78 s$/,
  ],
  [{ t: 1, type: 'reply-started', stream: 3, device }, /↓ stream 3 d \S+ {2}reply {2}starts$/],
  [
    { t: 1, type: 'reply-failed', stream: 3, device, why: `ended with 3: ${evil}` },
    /! stream 3 d \S+ {2}reply {2}failed: ended with 3/,
  ],
  [{ t: 1, type: 'reply-ended', stream: 3, device, bargeIn: true }, /the user speaks/],
  [
    {
      t: 1,
      type: 'stream-closed',
      findings: [],
      stream: 3,
      device,
      code: 1000,
      reason: evil,
      remarks: ['the device sends at 1.7 × real time'],
      ...closed,
    },
    /closed {2}with 1000 .* after 1\.50 s; the device sends at 1\.7 × real time; from device 1 frame, 640 bytes; from service 2 frames, 1280 bytes$/,
  ],
  [
    {
      t: 1,
      type: 'stream-closed',
      findings: [],
      stream: 3,
      device,
      code: 1006,
      sentCode: 1012,
      reason: '',
      remarks: [],
      ...closed,
    },
    /closed {2}with 1012 after 1\.50 s; the device did not answer the close: answer each close with a close; /,
  ],
  [
    {
      t: 1,
      type: 'stream-closed',
      findings: [],
      stream: 3,
      device,
      code: 1002,
      sentCode: 1012,
      reason: '',
      remarks: [],
      ...closed,
    },
    /closed {2}with 1012 after 1\.50 s; the device answered with 1002; /,
  ],
  [
    { t: 1, type: 'device-finding', stream: 3, device, finding: 'stereo', remark: 'this looks like stereo' },
    /! stream 3 d \S+ {2}finding {2}this looks like stereo$/,
  ],
  [
    { t: 1, type: 'shared-away', why: `gone ${evil}` },
    /shared {2}tokens and streams are refused: the shared state is unavailable \(gone .*\)$/,
  ],
  [{ t: 1, type: 'stopping' }, /stopping/],
];

describe.each(events.map(([event, text]) => ({ type: event.type, event, text })))(
  'an event of type $type',
  ({ event, text }) => {
    test('has a line, and contains nothing from outside that controls a terminal', () => {
      const [line = '', ...others] = emulatorLines(event, plain);
      expect(others).toEqual([]);
      expect(line).toMatch(text);
      expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    });
  },
);

test.each([
  ['device', /↑ device stream 3 d .* {2}pace {2}sends 1.2 × real time/],
  ['service', /↓ service stream 3 d .* {2}pace {2}sends 1.2 × real time/],
  [undefined, /↑ stream 3 d .* {2}pace {2}sends 1.2 × real time/],
] as const)('a pace names its side, and points from it: %s', (from, text) => {
  const pace = { timesRealTime: 1.2, meanJitterMs: 1, longestGapMs: 20, burstMessages: 0 };
  const type = `${from ?? 'device'}-verdict` as const;
  const event = { t: 1, type, stream: 3, device, pace, findings: [], remarks: [] };
  expect(emulatorLines(from === undefined ? event : { ...event, from }, plain)[0]).toMatch(text);
});

describe('the first lines of serve', () => {
  const listening = {
    t: 0,
    type: 'listening',
    version: '1.2.3',
    baseUrl: 'http://h:1',
    wsUrl: 'ws://h:1',
  } as const;

  test('have the URLs for token and stream, and a curl line', () => {
    const lines = startLines(listening, { reply: 'parrot', key: { open: 'any-key' } }, plain).join('\n');
    expect(lines).toMatch(/token {3}http:\/\/h:1\/api\/websocket-voice\/token$/m);
    expect(lines).toMatch(/stream {2}ws:\/\/h:1\/voice-stream$/m);
    expect(lines).toMatch(/curl .*'http:\/\/h:1\/api\/websocket-voice\/token'/);
    expect(lines).not.toContain('VOICECTL_API_KEY');
  });

  test('have a curl line that takes an accepted key from the environment', () => {
    expect(startLines(listening, { reply: 'parrot', key: { missing: 'which' } }, plain).join('\n')).toContain(
      '{VOICECTL_API_KEY:?which}',
    );
  });

  test.each([
    ['secret', 'a request through a proxy needs the control secret'],
    ['refused', 'a request through a proxy is refused unless VOICECTL_CONTROL_SECRET is set'],
  ] as const)('on loopback, who may control it (%s)', (forwarded, who) => {
    const lines = startLines(listening, { reply: 'parrot', key: { open: 'any-key' }, forwarded }, plain);
    expect(lines).toContain(`  control from this machine; ${who}`);
  });

  test('have the URLs for other machines if it listens on all addresses', () => {
    const lan = [1, 2].map((n) => ({ baseUrl: `http://192.0.2.${n}:1`, wsUrl: `ws://192.0.2.${n}:1` }));
    const lines = startLines({ ...listening, lan }, { reply: 'parrot', key: { open: 'any-key' } }, plain);
    expect(lines.slice(3, 7)).toEqual([
      '  network http://192.0.2.1:1/api/websocket-voice/token',
      '          ws://192.0.2.1:1/voice-stream',
      '          http://192.0.2.2:1/api/websocket-voice/token',
      '          ws://192.0.2.2:1/voice-stream',
    ]);
  });
});

test('an event of a later version, from the journal of its emulator, has a line with its kind', () => {
  const later = { t: 1, type: 'door-opened', level: 'info' } as never;
  expect(emulatorLines(later, plain)).toEqual(['   0.001  · door-opened']);
});

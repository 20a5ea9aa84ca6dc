import { expect, test } from 'vitest';
import { serviceUrl, streamPath, tokenPath, tokenPaths, wsUrlFor } from '../../src/protocol/paths.ts';

test('the paths are those of the specification', () => {
  expect(tokenPath()).toBe('/api/websocket-voice/token');
  expect(tokenPath('v1')).toBe('/api/v1/websocket-voice/token');
  expect(tokenPaths).toEqual([tokenPath(), tokenPath('v1')]);
  expect(streamPath).toBe('/voice-stream');
});

test.each([
  ['http://127.0.0.1:8787', 'ws://127.0.0.1:8787'],
  ['https://voice.example.test/base', 'wss://voice.example.test/base'],
  ['HTTPS://voice.example.test', 'wsS://voice.example.test'],
  ['wss://http.example.test', 'wss://http.example.test'],
])('the stream of %s is at %s', (base, ws) => {
  expect(new URL(wsUrlFor(base)).href).toBe(new URL(ws).href);
});

test.each(['http://host', 'http://host/', 'http://host//'])('%s joins with a path by one slash', (base) => {
  expect(serviceUrl(base, '/voice-stream')).toBe('http://host/voice-stream');
});

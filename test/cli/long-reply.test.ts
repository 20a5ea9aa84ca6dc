import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readRecording } from '../../src/recording/read-recording.ts';
import { setUpServices } from '../helpers/services.ts';
import { fixture, setUpSandbox, summaryOf } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const services = setUpServices();
const messageBytes = 1024 * 1024;

/** A service that replies to the first audio in messages of 1 MiB, as fast as they are read, and closes. */
async function startService(reply: Buffer) {
  const wsUrl = await services.ws((peer) => {
    let hasReplied = false;
    peer.on('message', (_data, isBinary) => {
      if (!isBinary) peer.send('{"type":"service_voice_connected"}');
      else if (!hasReplied) {
        hasReplied = true;
        for (let at = 0; at < reply.length; at += messageBytes)
          peer.send(reply.subarray(at, at + messageBytes));
        peer.close(1000);
      }
    });
  });
  const { baseUrl } = await services.http((response) =>
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"token":"e30.e30.c2ln"}'),
  );
  return ['--base-url', baseUrl, '--ws-url', wsUrl];
}

test('a reply of several minutes that comes all at once is written to its last sample', async () => {
  // One and a half times what may wait for the disk; quiet, because judging a voice takes longer.
  const reply = Buffer.alloc(6 * messageBytes);
  for (let at = 0; at < reply.length; at += 2) reply.writeInt16LE(((at * 2_654_435_761) >>> 16) % 16, at);
  const at = await startService(reply);
  const said = ['--file', fixture('barge-in.wav'), '--pace', 'max', '--tail', '0', '--settle', '60s'];
  const files = ['--out', 'long.wav', '--record', 'long', '--record-both', 'long-both.wav'];
  const long = await sandbox.run(['stream', ...said, ...at, ...files, '--json'], {
    env: { VOICECTL_API_KEY: 'key-123456' },
  });
  expect({ code: long.code, stderr: long.stderr }).toEqual({ code: 0, stderr: '' });
  expect(summaryOf(long.stdout)).toMatchObject({ in: { bytes: reply.length } });
  expect(readFileSync(sandbox.path('long.wav')).subarray(44).equals(reply)).toBe(true);
  const { audio, problems } = await readRecording(sandbox.path('long'));
  expect(problems).toEqual([]);
  const start = audio.in.findIndex((byte) => byte !== 0) & ~1;
  // The first sample of the reply is zero.
  expect(audio.in.subarray(start - 2, start - 2 + reply.length).equals(reply)).toBe(true);
  for (const name of ['long-both.wav', 'long/both.wav'])
    expect(readFileSync(sandbox.path(name)).length).toBeGreaterThan(2 * reply.length);
});

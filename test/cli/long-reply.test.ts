import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readRecording } from '../../src/recording/read-recording.ts';
import { setUpServices } from '../helpers/services.ts';
import { fixture, setUpSandbox, summaryOf } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const services = setUpServices();
const messageBytes = 1024 * 1024;

/** A service that answers the first audio with so many MiB of audio, as fast as they are read. */
async function startService(reply: Buffer) {
  const wsUrl = await services.ws((peer) => {
    let hasReplied = false;
    peer.on('message', (_data, isBinary) => {
      if (!isBinary) peer.send('{"type":"service_voice_connected"}');
      else if (!hasReplied) {
        hasReplied = true;
        for (let at = 0; at < reply.length; at += messageBytes)
          peer.send(reply.subarray(at, at + messageBytes));
      }
    });
  });
  const { baseUrl } = await services.http((response) =>
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"token":"e30.e30.c2ln"}'),
  );
  return ['--base-url', baseUrl, '--ws-url', wsUrl];
}

/** The most memory that the program has held, in bytes; undefined where the system does not say. */
async function hold(reply: Buffer, name: string) {
  const flags = ['--out', `${name}.wav`, '--record', name, '--record-both', `${name}-both.wav`];
  const at = await startService(reply);
  const said = ['--file', fixture('barge-in.wav'), '--pace', 'max', '--tail', '0', '--settle', '1s'];
  const running = sandbox.start(['stream', ...said, ...at, ...flags, '--json'], {
    env: { VOICECTL_API_KEY: 'key-123456' },
  });
  let peak: number | undefined;
  const look = setInterval(() => {
    const file = `/proc/${running.child.pid}/status`;
    const kB = existsSync(file) ? /VmHWM:\s+(\d+) kB/.exec(readFileSync(file, 'utf8'))?.[1] : undefined;
    if (kB !== undefined) peak = Math.max(peak ?? 0, Number(kB) * 1024);
  }, 20);
  sandbox.defer(() => clearInterval(look));
  const ended = await running.ended;
  clearInterval(look);
  return { ...ended, peak };
}

test('a reply of minutes that comes at once is written to its last sample, and not held in memory', async () => {
  const reply = Buffer.alloc(40 * messageBytes);
  for (let at = 0; at < reply.length; at += 2) reply.writeInt16LE(((at * 2_654_435_761) >>> 16) % 8_000, at);
  const short = await hold(reply.subarray(0, messageBytes), 'short');
  const long = await hold(reply, 'long');
  expect({ code: long.code, stderr: long.stderr }).toEqual({ code: 0, stderr: '' });
  expect(summaryOf(long.stdout)).toMatchObject({ in: { bytes: reply.length } });
  expect(readFileSync(sandbox.path('long.wav')).subarray(44).equals(reply)).toBe(true);
  const { audio, problems } = await readRecording(sandbox.path('long'));
  expect(problems).toEqual([]);
  const start = audio.in.findIndex((byte) => byte !== 0) & ~1;
  // The first sample of the reply is nought.
  expect(audio.in.subarray(start - 2, start - 2 + reply.length).equals(reply)).toBe(true);
  for (const name of ['long-both.wav', 'long/both.wav'])
    expect(readFileSync(sandbox.path(name)).length).toBeGreaterThan(2 * reply.length);
  if (short.peak === undefined || long.peak === undefined)
    console.warn('NOT CHECKED: the system does not say how much memory a process holds');
  else expect(long.peak - short.peak).toBeLessThan(60 * 1024 * 1024);
});

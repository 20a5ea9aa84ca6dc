import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../src/kernel/redact.ts';
import { readRecording } from '../../src/recording/read-recording.ts';
import { tokenFacts } from '../../src/wire/token-facts.ts';
import { setUpBundles, startRecorder } from '../helpers/bundles.ts';
import { grantedExchange, openedUpgrade } from '../helpers/exchanges.ts';
import { makeSummary } from '../helpers/summaries.ts';

const { newPath, write } = setUpBundles();
const pcm = (bytes: number, value: number) => Buffer.alloc(bytes, value);
const wavData = (folder: string, name: string) => readFileSync(join(folder, name)).subarray(44);

test('every message in both directions is kept byte for byte, with its time', async () => {
  const folder = newPath();
  const session = await startRecorder(folder);
  session.clock.advance(100);
  session.receiveText('{ "type":"service_voice_connected", "big":12345678901234567890 }');
  session.sendAudio(pcm(640, 1));
  session.clock.advance(20);
  session.sendAudio(pcm(100, 2));
  session.receiveAudio(pcm(641, 3));
  session.clock.advance(500);
  session.receiveAudio(pcm(0, 0));
  session.receiveAudio(pcm(7, 4));
  session.clock.advance(380);
  session.close('service', 1011, 'oops');
  await session.finish();

  const { wire, problems } = await readRecording(folder);
  expect(problems).toEqual(['There is no summary.json: the recording is incomplete']);
  expect(wire).toEqual([
    {
      t: 100,
      type: 'text',
      text: '{ "type":"service_voice_connected", "big":12345678901234567890 }',
      direction: 'in',
    },
    { t: 100, type: 'audio', direction: 'out', bytes: 640, at: 3_200 },
    { t: 120, type: 'audio', direction: 'out', bytes: 100, at: 3_840 },
    { t: 120, type: 'audio', direction: 'in', bytes: 641, at: 3_840 },
    { t: 620, type: 'audio', direction: 'in', bytes: 0, at: 19_839 },
    { t: 620, type: 'audio', direction: 'in', bytes: 7, at: 19_839 },
    { t: 1_000, type: 'close', by: 'service', code: 1011, reason: 'oops' },
  ]);
  const [you, ai] = [wavData(folder, 'you.wav'), wavData(folder, 'ai.wav')];
  expect(you.subarray(3_200, 3_940)).toEqual(Buffer.concat([pcm(640, 1), pcm(100, 2)]));
  expect(ai.subarray(3_840, 4_481)).toEqual(pcm(641, 3));
  expect(ai.subarray(19_839, 19_846)).toEqual(pcm(7, 4));
  // One axis: silence where nothing came, and both end with the session.
  const both = wavData(folder, 'both.wav');
  expect([you.length, ai.length, both.length]).toEqual([32_000, 32_000, 64_000]);
  expect(both.subarray(6_400, 6_404)).toEqual(Buffer.concat([pcm(2, 1), pcm(2, 0)]));
  expect(both.subarray(7_680, 7_684)).toEqual(Buffer.concat([pcm(2, 2), pcm(2, 3)]));
  expect(ai.subarray(4_481, 19_839)).toEqual(pcm(15_358, 0));
});

test('the stereo file has what a listener heard: an interruption drops the rest, which the file of the AI keeps', async () => {
  const folder = newPath();
  const session = await startRecorder(folder);
  session.clock.advance(100);
  // Two seconds at once, of which 300 ms are heard.
  session.receiveAudio(pcm(64_000, 3));
  for (let sent = 0; sent < 15; sent += 1) {
    session.sendAudio(pcm(640, 1));
    session.clock.advance(20);
  }
  session.receiveText('{"type":"interrupted"}');
  session.clock.advance(200);
  session.receiveAudio(pcm(3_200, 4));
  session.clock.advance(400);
  await session.finish();

  const [ai, both] = [wavData(folder, 'ai.wav'), wavData(folder, 'both.wav')];
  expect(ai.subarray(3_200, 67_200).equals(pcm(64_000, 3))).toBe(true);
  expect(ai.subarray(67_200, 70_400).equals(pcm(3_200, 4))).toBe(true);
  const heard = Array.from({ length: both.length / 4 }, (_, at) => both.readInt16LE(4 * at + 2));
  const spanOf = (value: number) => [heard.indexOf(value), heard.lastIndexOf(value) + 1].map((at) => at / 16);
  expect(spanOf(0x0303)).toEqual([100, 400]);
  expect(spanOf(0x0404)).toEqual([600, 700]);
});

test('requests are kept with the time of each step, but only with the length of the token', async () => {
  const folder = newPath();
  const session = await startRecorder(folder);
  session.tap.token?.(
    grantedExchange({
      headers: [
        ['Date', 'today'],
        ['Vary', 'a'],
        ['vary', 'b'],
      ],
    }),
  );
  session.clock.advance(5);
  session.tap.opened?.(openedUpgrade(session.clock.now()));
  const token = tokenFacts('eyJh.eyJz.c2lnbmF0dXJl', createRedactor());
  session.tap.message?.({ at: session.clock.now(), from: 'device', opcode: 'text', token, bytes: 22 });
  session.close('device', 1000);
  await session.finish();
  const { wire } = await readRecording(folder);
  expect(wire).toEqual([
    {
      t: 0,
      type: 'token-request',
      url: 'http://voice.test/api/websocket-voice/token',
      device: 'device-1',
      status: 200,
      headers: { date: 'today', vary: 'a, b' },
      firstByteMs: 3,
      totalMs: 5,
    },
    { t: 5, type: 'upgrade', url: 'ws://voice.test/voice-stream', status: 101, totalMs: 0 },
    { t: 5, type: 'token', bytes: 22 },
    { t: 5, type: 'close', by: 'client', code: 1000, reason: '' },
  ]);
});

test('only its owner can read it', async () => {
  const folder = newPath();
  const session = await startRecorder(folder);
  await session.finish();
  const mode = (path: string) => statSync(path).mode & 0o777;
  expect(mode(folder)).toBe(0o700);
  for (const name of ['recording.json', 'events.jsonl', 'wire.jsonl', 'you.wav', 'ai.wav', 'both.wav'])
    expect(mode(join(folder, name))).toBe(0o600);
  const whole = await write(() => {}, { summary: makeSummary() });
  expect(mode(join(whole.folder, 'summary.json'))).toBe(0o600);
});

describe('a folder that cannot be recorded into', () => {
  test('because it exists, even if it is empty, is left unchanged', async () => {
    const folder = newPath();
    mkdirSync(folder);
    await expect(startRecorder(folder)).rejects.toMatchObject({ code: 'usage' });
  });

  test('because its parent does not exist is an output failure', async () => {
    const file = newPath();
    await expect(startRecorder(join(file, 'x'))).rejects.toMatchObject({ code: 'input-output' });
    writeFileSync(file, '');
    await expect(startRecorder(join(file, 'x'))).rejects.toMatchObject({ code: 'input-output' });
  });
});

test('a session that began before its recording keeps its own start', async () => {
  const folder = newPath();
  const session = await startRecorder(folder, { startedAt: -400 });
  session.clock.advance(100);
  session.tap.began?.(session.clock.now());
  session.close('device', 1000);
  await session.finish();
  expect((await readRecording(folder)).wire).toMatchObject([{ type: 'close', t: 500 }]);
});

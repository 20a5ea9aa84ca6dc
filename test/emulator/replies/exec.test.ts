import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createEmulator, type Emulator } from '../../../src/emulator/emulator.ts';
import { replyByCommand } from '../../../src/emulator/replies/exec.ts';
import type { Voice } from '../../../src/emulator/replies/reply.ts';
import type { EmulatorEvent } from '../../../src/service/events.ts';
import type { Playable } from '../../../src/service/streams/playable.ts';
import { fixturePcm } from '../../helpers/fixtures.ts';

const folder = mkdtempSync(join(tmpdir(), 'voicectl-exec-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const open: { emulator: Emulator; socket: WebSocket }[] = [];
afterEach(async () => {
  for (const { emulator, socket } of open.splice(0)) {
    socket.terminate();
    await emulator.close();
  }
});

/** An authorised stream that is answered by a command. */
async function converseWith(command: string) {
  const events: EmulatorEvent[] = [];
  const emulator = await createEmulator({ reply: `exec:${command}`, onEvent: (event) => events.push(event) });
  const answer = await fetch(`${emulator.baseUrl}/api/websocket-voice/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ apiKey: 'k', deviceId: 'd' }),
  });
  const { token } = (await answer.json()) as { token: string };
  const socket = new WebSocket(`${emulator.wsUrl}/voice-stream`);
  open.push({ emulator, socket });
  const audio: Buffer[] = [];
  const texts: Record<string, unknown>[] = [];
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) audio.push(data);
    else texts.push(JSON.parse(data.toString()));
  });
  await once(socket, 'open');
  socket.send(token);
  await expect.poll(() => texts.length).toBeGreaterThan(0);
  return { emulator, socket, texts, events, heard: () => Buffer.concat(audio) };
}

/** Whether a process is there. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const pcm = fixturePcm('barge-in.wav');

test('a command hears the user, and what it writes is said byte for byte', async () => {
  const { socket, heard } = await converseWith('cat');
  for (let at = 0; at < pcm.length; at += 640) socket.send(pcm.subarray(at, at + 640));
  await expect.poll(() => heard().equals(pcm), { timeout: 15_000 }).toBe(true);
});

test('what it writes at once is sent in frames, at real-time pace, as one reply', async () => {
  const { events, heard } = await converseWith('head -c 12801 /dev/zero; sleep 60');
  await expect.poll(() => events.some(({ type }) => type === 'reply-ended'), { timeout: 10_000 }).toBe(true);
  // An odd last byte is no sample.
  expect(heard().length).toBe(12_800);
  const began = events.find(({ type }) => type === 'reply-started')?.t ?? 0;
  const ended = events.find(({ type }) => type === 'reply-ended')?.t ?? 0;
  expect(ended - began).toBeGreaterThanOrEqual(380);
});

test('what it writes while something else is said follows it', async () => {
  const { emulator, socket, heard, events } = await converseWith(
    'head -c 640 >/dev/null; head -c 3200 /dev/zero; sleep 60',
  );
  const clip = Buffer.alloc(19_200, 1);
  emulator.control.speak({}, clip);
  await expect.poll(() => heard().length).toBeGreaterThan(0);
  socket.send(Buffer.alloc(640));
  await expect.poll(() => events.some(({ type }) => type === 'reply-ended')).toBe(true);
  await expect.poll(() => heard().length).toBe(22_400);
  expect(heard().equals(Buffer.concat([clip, Buffer.alloc(3_200)]))).toBe(true);
});

test('a command that fails is reported to its device, with its standard error, and the stream continues', async () => {
  const { emulator, socket, texts, events } = await converseWith('echo no such voice >&2; exit 3');
  await expect
    .poll(() => texts.at(-1))
    .toEqual({
      type: 'error',
      error: {
        code: 'REPLY_FAILED',
        message: 'The reply failed: The reply command exited with code 3: no such voice',
      },
    });
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'reply-failed', why: expect.stringContaining('no such voice') }),
  );
  socket.send(pcm.subarray(0, 640));
  await expect.poll(() => emulator.control.state().streams[0]?.framesIn).toBe(1);
});

test('a missing command is reported too', async () => {
  const { texts } = await converseWith('voicectl-no-such-command');
  await expect.poll(() => JSON.stringify(texts.at(-1))).toContain('REPLY_FAILED');
});

test('a command ends with its stream, and so does everything that it started', async () => {
  const file = join(folder, 'pid');
  const { socket } = await converseWith(`trap '' TERM; sleep 600 & echo $! > ${file}; wait; sleep 600`);
  await expect.poll(() => Number(read(file))).toBeGreaterThan(0);
  const pid = Number(read(file));
  expect(isAlive(pid)).toBe(true);
  socket.close();
  await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
});

test('a command that does not read costs a bounded amount of memory', async () => {
  const { emulator, socket } = await converseWith('sleep 600');
  const second = Buffer.alloc(32_000);
  for (let i = 0; i < 200; i += 1) socket.send(second);
  await expect.poll(() => emulator.control.state().streams[0]?.framesIn, { timeout: 10_000 }).toBe(200);
  expect(socket.readyState).toBe(WebSocket.OPEN);
});

/** A reply command without a stream, and what it has written. */
function hearCommand(command: string, onTestFinished: (end: () => void) => void) {
  let said: Playable | undefined;
  const voice = {
    speaking: false,
    say(playable: Playable) {
      said = playable;
      voice.speaking = true;
    },
  };
  const reply = replyByCommand(command)(voice as unknown as Voice);
  onTestFinished(() => reply.close?.());
  const frames: Buffer[] = [];
  const read = () => {
    for (let frame = said?.read(640); frame !== undefined && frame.length > 0; frame = said?.read(640))
      frames.push(frame);
    return Buffer.concat(frames);
  };
  return { hear: reply.hear, read };
}

test('a command that writes far ahead is heard to the end', async ({ onTestFinished }) => {
  const file = join(folder, 'ahead');
  const write = (seconds: number) => `head -c ${seconds * 32_000} /dev/zero`;
  const { read } = hearCommand(`${write(11)}; touch ${file}; ${write(20)}; sleep 60`, onTestFinished);
  await expect.poll(() => existsSync(file), { timeout: 20_000 }).toBe(true);
  // The emulator has taken more than it keeps.
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  await expect.poll(() => read().length, { timeout: 20_000 }).toBe(31 * 32_000);
});

test('a command that reads late hears the first 10 s, and goes on with what comes then', async ({
  onTestFinished,
}) => {
  const file = join(folder, 'go');
  const late = `until [ -e ${file} ]; do sleep 0.05; done; exec cat`;
  const { hear, read } = hearCommand(late, onTestFinished);
  for (let second = 0; second < 40; second += 1) hear(Buffer.alloc(32_000));
  writeFileSync(file, '');
  const heardNow = () => {
    hear(Buffer.alloc(640, 1));
    return read().indexOf(1);
  };
  await expect.poll(heardNow, { timeout: 20_000 }).toBeGreaterThanOrEqual(10 * 32_000);
  // The system holds some audio, too.
  expect(read().indexOf(1)).toBeLessThan(20 * 32_000);
});

const hasSox = (() => {
  try {
    execFileSync('sox', ['--version']);
    return true;
  } catch {
    console.warn('SKIPPED: a reply through sox needs the Debian package sox');
    return false;
  }
})();

describe.skipIf(!hasSox)('sox as the AI', () => {
  test('repeats the user’s words at another volume', async () => {
    const raw = '-t raw -r 16000 -e signed -b 16 -c 1';
    const { socket, heard } = await converseWith(`head -c ${pcm.length} | sox -q ${raw} - ${raw} - vol 0.5`);
    for (let at = 0; at < pcm.length; at += 640) socket.send(pcm.subarray(at, at + 640));
    await expect.poll(() => heard().length, { timeout: 15_000 }).toBe(pcm.length);
    const at = pcm.length / 2 - ((pcm.length / 2) % 2);
    expect(Math.abs(heard().readInt16LE(at) - pcm.readInt16LE(at) / 2)).toBeLessThanOrEqual(2);
  });
});

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

import { expect, test } from 'vitest';
import { createPage } from '../../../src/page/server/create-page.ts';
import { setUpEmulators } from '../../helpers/emulators.ts';
import { headers, token } from '../../helpers/page-tab.ts';

const startEmulator = setUpEmulators();
const facts = { baseUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1', isDefault: true, curl: '' };

/** The pieces of a voice as a listener takes them apart: a byte for the voice, two for the length, and the audio. */
function partsOf(heard: Buffer, voice: number): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < heard.length; ) {
    const end = at + 3 + heard.readUInt16LE(at + 1);
    if (heard[at] === voice) parts.push(heard.subarray(at + 3, end));
    at = end;
  }
  return parts;
}

test('a listener hears a message unchanged, however long it is', async () => {
  const emulator = await startEmulator({ reply: 'silence', page: createPage(() => facts, { token }) });
  const device = await emulator.connect();
  const listening = await fetch(`${emulator.baseUrl}/__voicectl/page/listen?stream=1`, { headers });
  const said = Buffer.from(Uint16Array.from({ length: 50_000 }, (_, at) => at).buffer);
  await device.send(said);
  device.socket.close(1000);
  const heard = Buffer.from(await listening.arrayBuffer());
  expect(Buffer.concat(partsOf(heard, 0)).equals(said)).toBe(true);
});

test('a listener hears whole samples, however messages split them', async () => {
  const emulator = await startEmulator({ reply: 'silence', page: createPage(() => facts, { token }) });
  const device = await emulator.connect();
  const listening = await fetch(`${emulator.baseUrl}/__voicectl/page/listen?stream=1`, { headers });
  const said = Buffer.from(Uint16Array.from({ length: 1_000 }, (_, at) => at).buffer);
  for (let at = 0; at < said.length; at += 641) await device.send(said.subarray(at, at + 641));
  device.socket.close(1000);
  const heard = Buffer.from(await listening.arrayBuffer());
  const parts = partsOf(heard, 0);
  expect(parts.map(({ length }) => length)).toEqual([640, 642, 640, 78]);
  expect(Buffer.concat(parts).equals(said)).toBe(true);
});

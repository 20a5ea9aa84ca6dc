import { expect, test } from 'vitest';
import { createPage } from '../../../src/page/server/create-page.ts';
import { setUpEmulators } from '../../helpers/emulators.ts';
import { headers, token } from '../../helpers/page-tab.ts';

const startEmulator = setUpEmulators();
const facts = { baseUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1', isDefault: true, curl: '' };

/** The audio of a voice as a listener takes it apart: a byte for the voice, two for the length, and the audio. */
function audioOf(heard: Buffer, voice: number): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < heard.length; ) {
    const end = at + 3 + heard.readUInt16LE(at + 1);
    if (heard[at] === voice) parts.push(heard.subarray(at + 3, end));
    at = end;
  }
  return Buffer.concat(parts);
}

test('a listener hears a message unchanged, however long it is', async () => {
  const emulator = await startEmulator({ reply: 'silence', page: createPage(() => facts, { token }) });
  const device = await emulator.connect();
  const listening = await fetch(`${emulator.baseUrl}/__voicectl/page/listen?stream=1`, { headers });
  const said = Buffer.from(Uint16Array.from({ length: 50_000 }, (_, at) => at).buffer);
  await device.send(said);
  device.socket.close(1000);
  const heard = Buffer.from(await listening.arrayBuffer());
  expect(audioOf(heard, 0).equals(said)).toBe(true);
});

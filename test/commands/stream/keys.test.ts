import { PassThrough } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { listenForKeys } from '../../../src/commands/stream/keys.ts';

afterEach(() => vi.restoreAllMocks());

function createTerminal({ isTTY = true } = {}) {
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), { isTTY, setRawMode: (on: boolean) => void modes.push(on) });
  const microphone = {
    muted: false,
    mute(on: boolean) {
      microphone.muted = on;
    },
  };
  const told: boolean[] = [];
  const release = listenForKeys({ stdin }, { microphone, onMute: (muted) => told.push(muted) });
  const press = async (keys: string) => {
    stdin.write(keys);
    await new Promise(setImmediate);
  };
  return { microphone, told, modes, release, press };
}

test('m mutes the microphone, and switches it on again', async () => {
  const { microphone, told, press } = createTerminal();
  await press('m');
  expect(microphone.muted).toBe(true);
  await press('xm');
  expect(microphone.muted).toBe(false);
  await press('mm');
  expect(told).toEqual([true, false, true, false]);
});

test('Ctrl-C is the signal that it would be without us', async () => {
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
  const { press } = createTerminal();
  await press('\u0003');
  expect(kill.mock.calls).toEqual([[process.pid, 'SIGINT']]);
});

test('the terminal is given back as it was, and keys do nothing any more', async () => {
  const { microphone, modes, release, press } = createTerminal();
  expect(modes).toEqual([true]);
  release();
  expect(modes).toEqual([true, false]);
  await press('m');
  expect(microphone.muted).toBe(false);
});

test('what is no terminal is left alone', async () => {
  const { microphone, modes, release, press } = createTerminal({ isTTY: false });
  await press('m');
  release();
  expect(modes).toEqual([]);
  expect(microphone.muted).toBe(false);
});

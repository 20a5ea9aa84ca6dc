import { expect, test } from 'vitest';
import { deviceChoices } from '../../../src/commands/sound-devices/open-devices.ts';

test('the microphone and the loudspeaker are those that the flags name', () => {
  const settings = { inputDevice: 'headset', outputDevice: 'HDMI', audioBackend: 'pulse' };
  const context = { settings, io: { env: {} }, signal: new AbortController().signal };
  const { capture, playback } = deviceChoices(context as unknown as Parameters<typeof deviceChoices>[0]);
  expect(capture).toMatchObject({ role: 'capture', device: 'headset', backend: 'pulse' });
  expect(playback).toMatchObject({ role: 'playback', device: 'HDMI', backend: 'pulse' });
});

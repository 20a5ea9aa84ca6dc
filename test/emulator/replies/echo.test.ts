import { expect, test } from 'vitest';
import { echo } from '../../../src/emulator/replies/registry.ts';
import { speakWith } from '../../helpers/fake-voice.ts';
import { silence, speech } from '../../helpers/pcm.ts';

test('echo sends every message back unchanged, and reports no turns', () => {
  const { sent, log, hear } = speakWith(echo);
  const pcm = Buffer.concat([speech(500), silence(1_000)]);
  hear(pcm);
  expect(sent).toHaveLength(75);
  expect(Buffer.concat(sent).equals(pcm)).toBe(true);
  expect(log).toEqual([]);
});

import { expect, test } from 'vitest';
import { silence } from '../../../src/emulator/replies/registry.ts';
import { speakWith } from '../../helpers/fake-voice.ts';
import { silence as noSound, speech } from '../../helpers/pcm.ts';

test('silence never sends anything', () => {
  const { sent, log, hear, clock } = speakWith(silence);
  hear(Buffer.concat([speech(500), noSound(1_000)]));
  clock.advance(10_000);
  expect([sent, log]).toEqual([[], []]);
});

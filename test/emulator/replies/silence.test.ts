import { expect, test } from 'vitest';
import { silence } from '../../../src/emulator/replies/registry.ts';
import { silence as noSound, speakWith, speech } from '../../helpers/fake-voice.ts';

test('silence never says or sends anything', () => {
  const { sent, log, hear, clock } = speakWith(silence);
  hear(Buffer.concat([speech(500), noSound(1_000)]));
  clock.advance(10_000);
  expect([sent, log]).toEqual([[], []]);
});

import { expect, test } from 'vitest';
import { createVoiceWatch } from '../../src/session/voice-watch.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { framesOf, silence, speech } from '../helpers/pcm.ts';

/** −50 dBFS: audible, but no speech. */
function tone(ms: number): Buffer {
  const pcm = silence(ms);
  for (let at = 0; at < pcm.length; at += 2) pcm.writeInt16LE(at % 4 === 0 ? 104 : -104, at);
  return pcm;
}

/** When speech last arrived, if the audio arrives in messages of `messageMs`, each when it begins. */
function voicedAt(pcm: Buffer, messageMs: number): number {
  const clock = createManualClock();
  const voice = createVoiceWatch(clock);
  const startedAt = clock.now();
  for (const message of framesOf(pcm, messageMs)) {
    voice.received(message);
    clock.advance(messageMs);
  }
  return voice.voicedAt - startedAt;
}

test.each([
  ['room tone is none', tone(5_000), 100, -Infinity],
  ['a click is none', Buffer.concat([tone(1_000), speech(40), tone(1_000)]), 20, -Infinity],
  ['a word in room tone is', Buffer.concat([tone(1_000), speech(400), tone(1_000)]), 100, 1_300],
  ['a word within one message is', Buffer.concat([tone(2_500), speech(400), tone(3_000)]), 2_000, 2_000],
  ['a hum counts as background within 4 s', speech(10_000), 100, 3_400],
])('is it speech? %s', (_what, pcm, messageMs, expected) => {
  expect(voicedAt(pcm, messageMs)).toBe(expected);
});

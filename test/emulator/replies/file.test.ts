import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createEmulator } from '../../../src/emulator/emulator.ts';
import { createReplyMode } from '../../../src/emulator/replies/registry.ts';
import { hasTools } from '../../audio/files.ts';
import { speakWith } from '../../helpers/fake-voice.ts';
import { fixture, fixturePcm } from '../../helpers/fixtures.ts';
import { silence, speech } from '../../helpers/pcm.ts';

test('a file replies to each turn with its audio, byte for byte if it has the format of the protocol', async () => {
  const { said, hear } = speakWith(await createReplyMode(`file:${fixture('answer.wav')}`));
  for (let turn = 0; turn < 2; turn += 1) hear(Buffer.concat([speech(500), silence(1_000)]));
  const pcm = fixturePcm('answer.wav');
  expect(said.map((audio) => audio.equals(pcm))).toEqual([true, true]);
});

test('a file of another format is converted', async () => {
  const { said, hear } = speakWith(await createReplyMode(`file:${fixture('tone-48k-stereo.wav')}`));
  hear(Buffer.concat([speech(500), silence(1_000)]));
  expect(Math.abs(said[0]!.length - 32_000)).toBeLessThanOrEqual(64);
});

test.skipIf(!hasTools('mkfifo'))('the wait for a file that nobody writes can be ended', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'voicectl-reply-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const controller = new AbortController();
  const starting = createEmulator({ reply: `file:${pipe}`, signal: controller.signal });
  controller.abort(new Error('enough'));
  await expect(starting).rejects.toThrow('enough');
});

test.each(['no-such-file.wav', 'README.md'])('the file %s is refused at start', async (name) => {
  await expect(createReplyMode(`file:${fixture(name)}`)).rejects.toMatchObject({ code: 'bad-input' });
});

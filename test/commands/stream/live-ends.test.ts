import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openLiveEnds } from '../../../src/commands/stream/live-ends.ts';
import { optionsOf } from '../../../src/config/options.ts';
import { resolveSettings } from '../../../src/config/settings.ts';
import { setUpFakePrograms } from '../../devices/fake-program.ts';

const setUp = setUpFakePrograms();

const works = 'setInterval(() => process.stdout.write(Buffer.alloc(640)), 20)';
const fails = 'process.exit(1)';

/** What `stream --mic --record-mic` opens on a machine with these programs, where the file already exists. */
function setUpEnds(play: boolean, programs: Record<string, string>) {
  const { dir, common } = setUp(programs);
  const path = join(dir, 'said.wav');
  writeFileSync(path, 'yesterday');
  const open = async () => {
    const flags = { mic: true, play, audioBackend: 'pulse', recordMic: path };
    const resolved = await resolveSettings(optionsOf('stream'), { flags, env: {}, cwd: dir });
    const context = { ...resolved, io: { env: common.search.env }, signal: new AbortController().signal };
    return openLiveEnds(context as unknown as Parameters<typeof openLiveEnds>[0]);
  };
  return { open, read: () => readFileSync(path, 'latin1') };
}

describe('an earlier recording of the microphone', () => {
  test.each([
    ['microphone', false, { parec: fails }],
    ['loudspeaker', true, { parec: works, pacat: fails }],
  ])('stays as it was if the %s cannot be opened', async (_what, play, programs) => {
    const { open, read } = setUpEnds(play, programs);
    await expect(open()).rejects.toMatchObject({ code: 'audio-device' });
    expect(read()).toBe('yesterday');
  });

  test('is replaced when the session begins, and not before', async () => {
    const { open, read } = setUpEnds(false, { parec: works });
    const ends = await open();
    expect(read()).toBe('yesterday');
    await ends.record();
    expect(read()).toMatch(/^RIFF/);
    await ends.close();
  });
});

import { expect, test } from 'vitest';
import { readScenario } from '../../../src/emulator/scenario/read-scenario.ts';
import { setUpSandbox } from '../../helpers/voicectl.ts';

const sandbox = setUpSandbox();

test.each([
  ['no text', ''],
  ['only a comment', '# steps: later\n'],
  ['an empty mapping', '{}\n'],
])('a file with %s is refused by its name', async (_what, text) => {
  const path = sandbox.write('empty.yaml', text);
  await expect(readScenario(path)).rejects.toMatchObject({
    code: 'bad-input',
    message: `Cannot read ${path}: it is empty`,
    hint: expect.stringContaining('docs/SCENARIOS.md'),
  });
});

test('a scenario needs no steps, only something that it does', async () => {
  const { faults } = await readScenario(sandbox.write('faults.yaml', 'faults: [mute]\n'));
  expect(faults).toMatchObject([{ name: 'mute' }]);
});

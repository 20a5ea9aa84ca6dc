import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runInProcess } from '../helpers/in-process.ts';
import { createManualClock } from '../helpers/manual-clock.ts';

const folder = mkdtempSync(join(tmpdir(), 'voicectl-spoken-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a transcript from the service is in the lines and in the summary', async () => {
  const scenario = join(folder, 'spoken.yaml');
  const say = (role: string, text: string) => ({ send: { type: 'transcript', role, text } });
  const steps = [
    { when: 'connected', do: [say('user', 'what \u001b[31mtime'), say('assistant', 'Half past nine')] },
  ];
  writeFileSync(scenario, JSON.stringify({ steps }));
  const args = ['stream', '--file', 'hello.wav', '--local', '--scenario', scenario];
  const { stdout } = await runInProcess(args, { clock: createManualClock() });
  expect(stdout).toContain('↓ transcript  you: what \\u001b[31mtime');
  expect(stdout).toContain('↓ transcript  AI: Half past nine');
  expect(stdout).toMatch(/^transcript +you: what \\u001b\[31mtime\n +AI: Half past nine$/m);
});

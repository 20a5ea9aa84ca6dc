import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findMarked } from '../helpers/marked-processes.ts';
import { setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const device = join(import.meta.dirname, '..', '..', 'examples', 'devices', 'device.js');
const command = [process.execPath, device];

test('a signal stops the device, and what was found so far is reported', async () => {
  const env = { CASE: 'drill-ended' };
  const drill = sandbox.start(['drill', '--situation', 'D1', '--situation', 'D5', '--', ...command], { env });
  await drill.line(/^D1 +pass/);
  drill.signal('SIGINT');
  const ended = await drill.ended;
  expect(ended.code).toBe(130);
  expect(ended.stdout).toMatch(
    /^D1 +pass .*\n\nStopped: Interrupted\n1 pass, 0 fail, 1 skipped, \d+\.\d s\n$/,
  );
  expect(ended.stderr).toBe('voicectl: Interrupted\n');
  if (process.platform === 'linux') expect(await findMarked('CASE=drill-ended')).toEqual([]);
});

test('the addresses for a device that connects by itself are printed, and it goes from one situation to the next', async () => {
  const drill = await sandbox.startHere([
    'drill',
    '--port',
    '0',
    '--device',
    'kitchen',
    '--situation',
    'D1',
    '--situation',
    'D2',
  ]);
  const baseUrl = (await drill.line(/^Base URL/)).split(/\s+/)[2] ?? '';
  const voice = sandbox.startShell(`exec ${command.map((word) => `'${word}'`).join(' ')}`, {
    env: { VOICECTL_BASE_URL: baseUrl, VOICECTL_DEVICE: 'kitchen' },
  });
  const { code, stdout, stderr } = await drill.ended;
  voice.signal('SIGTERM');
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^D1 +pass .*\nD2 +pass .*\n\n2 pass/),
  });
  expect(stderr).toContain('D2: presents the JWT first, unchanged…');
});

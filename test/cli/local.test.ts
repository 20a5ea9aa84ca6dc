import { describe, expect, test } from 'vitest';
import { jsonLines, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const hello = ['--file', 'hello.wav', '--pace', 'max'];

describe('--local takes the flags of serve', () => {
  test('token with a fault is refused by the fault', async () => {
    const { code, stderr } = await sandbox.runHere([
      'token',
      '--local',
      '--fault',
      'rate-limited',
      '--retries',
      '0',
    ]);
    expect(code).toBe(5);
    expect(stderr).toContain('rate limited');
  });

  test('token with a scenario has its faults', async () => {
    sandbox.write('s.yaml', 'faults: [rate-limited]\n');
    const { code } = await sandbox.runHere(['token', '--local', '--scenario', 's.yaml', '--retries', '0']);
    expect(code).toBe(5);
  });

  test('token with a dialect and a limit has both', async () => {
    sandbox.write('d.yaml', 'token: { issuer: somebody }\n');
    const args = ['token', '--local', '--json', '--rate-limit', '7', '--dialect', 'd.yaml'];
    const { stdout } = await sandbox.runHere(args);
    expect(jsonLines(stdout)[0]).toMatchObject({
      claims: { iss: 'somebody' },
      rateLimit: { limit: 7, remaining: 6 },
    });
  });

  test('stream with a fault breaks as specified', async () => {
    const { code } = await sandbox.runHere(['stream', ...hello, '--local', '--fault', 'close:code=1012']);
    expect(code).toBe(6);
  });

  test('stream with a scenario receives what it says', async () => {
    sandbox.write('s.yaml', 'steps: [{ when: speech-end, do: [{ say: hello.wav }] }]\n');
    const args = ['stream', ...hello, '--local', '--scenario', 's.yaml', '--expect-audio', '1s', '--json'];
    const { code } = await sandbox.runHere(args);
    expect(code).toBe(0);
  });

  test('stream with a wrong scenario is refused before anything is sent', async () => {
    const { code, stderr } = await sandbox.runHere(['stream', ...hello, '--local', '--scenario', 'no-such']);
    expect(code).toBe(2);
    expect(stderr).toContain('Unknown scenario no-such');
  });

  test.each([
    ['--fault', 'drop'],
    ['--scenario', 's'],
    ['--dialect', 'd'],
    ['--reply', 'tone'],
    ['--rate-limit', '1'],
    ['--seed', '1'],
  ])('but %s without --local is refused', async (flag, value) => {
    const { code, stderr } = await sandbox.runHere(['stream', ...hello, flag, value]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${flag} needs --local`);
  });
});

test('a wrong value names the help of its own command', async () => {
  const { code, stderr } = await sandbox.runHere(['serve', '--port', 'x']);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/^voicectl: --port: .*\n {2}See voicectl serve --help\.\n$/),
  });
});

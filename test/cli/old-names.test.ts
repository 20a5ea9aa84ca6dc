import { describe, expect, test } from 'vitest';
import { setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();

describe('an old name still works, and a line gives the new one', () => {
  test.each([
    ['of a flag', ['drill', '--list', '--drill', 'D9'], 'D9-1012', '--drill is now called --situation'],
    [
      'of a value',
      ['check', '--dry-run', '--level', 'base'],
      'E1',
      '--level base is now called --level quick',
    ],
    ['of a command', ['devices', 'nonsense'], '', 'devices is now called audio'],
  ])('%s', async (_what, args, says, line) => {
    const { stdout, stderr } = await sandbox.runHere(args);
    expect(stdout).toContain(says);
    expect(stderr.split('\n').filter((one) => one.includes('is now called'))).toEqual([`voicectl: ${line}`]);
    expect((await sandbox.runHere([...args, '--quiet'])).stderr).not.toContain('is now called');
  });

  test('beside the new name of a repeatable flag', async () => {
    const { stdout } = await sandbox.runHere(['drill', '--list', '--drill', 'D9', '--situation', 'D1']);
    expect(stdout).toMatch(/^ *D9-1012 /m);
    expect(stdout).toMatch(/^D1 /m);
  });

  test.each([
    [['drill', '--help', '--all'], '--situation', '--drill '],
    [['serve', '--help', '--all'], '--tls-key', /^ *--key /m],
    [['stream', '--help', '--all'], '--sound-timeout', '--device-timeout'],
    [['check', '--help', '--all'], 'quick', 'base,'],
    [['--help'], 'audio', /^ *devices /m],
    [['help', 'devices'], 'voicectl audio', 'voicectl devices'],
    [['complete', '--', 'drill', '--'], '--situation', '--drill'],
    [['complete', '--', ''], 'audio', /^devices/m],
  ])('but is not in the help or the completion: %j', async (args, has, lacks) => {
    const { stdout } = await sandbox.run(args);
    expect(stdout).toContain(has);
    if (typeof lacks === 'string') expect(stdout).not.toContain(lacks);
    else expect(stdout).not.toMatch(lacks);
  });
});

test('--level full reaches the rate limit too, and beyond loopback it must be given as a flag', async () => {
  const { stdout } = await sandbox.runHere(['check', '--dry-run', '--level', 'full']);
  const exhaust = await sandbox.runHere(['check', '--dry-run', '--level', 'standard', '--exhaust']);
  expect(stdout).toBe(exhaust.stdout);
  sandbox.write('voicectl.config.yaml', 'level: full\nbaseUrl: https://voice.example\n');
  const { code, stderr } = await sandbox.runHere(['check', '--dry-run']);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('voice.example'),
  });
  expect((await sandbox.runHere(['check', '--dry-run', '--level', 'full'])).code).toBe(0);
});

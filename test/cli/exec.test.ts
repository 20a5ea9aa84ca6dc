import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runChild } from '../../src/commands/exec/run-command.ts';
import { VoicectlError } from '../../src/kernel/errors.ts';
import { hasTmux, setUpTerminals } from '../helpers/tmux.ts';
import { jsonLines, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const terminals = setUpTerminals();

/** A command that prints where the emulator is and runs until a signal, which it prints; then it ends with 9. */
const waiting = [
  'sh',
  '-c',
  `trap 'echo int; exit 9' INT; trap 'echo term; exit 9' TERM; echo "at $VOICECTL_BASE_URL"; while :; do sleep 0.05; done`,
];

describe('what the command is given', () => {
  test('addresses of an emulator that answers until it ends, a key that it accepts, and a device', async () => {
    await sandbox.standIn();
    const env = { PATH: `${sandbox.path('bin')}:${process.env.PATH}` };
    const given = [
      'exec',
      '--accept-key',
      'key-one',
      '--device',
      'd 1',
      '--',
      'sh',
      '-c',
      '{ env | grep ^VOICECTL_ | sort; voicectl token --decode; } >given',
    ];
    const { code, stderr } = await sandbox.runHere(given, { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const stdout = sandbox.read('given');
    const port = /VOICECTL_BASE_URL=http:\/\/127\.0\.0\.1:(\d+)\n/.exec(stdout)?.[1];
    // The emulator is gone afterwards.
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow('fetch failed');
    expect(stdout.split('\n').slice(0, 4)).toEqual([
      'VOICECTL_API_KEY=key-one',
      `VOICECTL_BASE_URL=http://127.0.0.1:${port}`,
      'VOICECTL_DEVICE=d 1',
      `VOICECTL_WS_URL=ws://127.0.0.1:${port}`,
    ]);
    expect(JSON.parse(stdout.slice(stdout.indexOf('{')))).toMatchObject({ claims: { sub: 'd 1' } });
  });

  test('its own flags, unchanged, and our environment and standard streams', async () => {
    const script = 'printf "<%s>" "$COLOUR" "$@"; cat; echo oops >&2';
    const { stdout, stderr, code } = await sandbox.run(
      [
        'exec',
        '--reply',
        'echo',
        '--',
        'sh',
        '-c',
        script,
        'sh',
        '--json',
        '-v',
        '--reply',
        'tone',
        '--',
        '',
      ],
      { input: 'from us', env: { COLOUR: 'teal' } },
    );
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '<teal><--json><-v><--reply><tone><--><>from us',
      stderr: 'oops\n',
    });
  });

  test('flags after the command belong to the command, even without --', async () => {
    const script = sandbox.write('say', '#!/bin/sh\necho "$@" >said\n', 0o755);
    const { code } = await sandbox.runHere(['exec', script, '--json', '--help']);
    expect({ code, said: sandbox.read('said') }).toEqual({ code: 0, said: '--json --help\n' });
  });
});

describe('how it ends', () => {
  test.each([
    ['7', 'exit 7', 7],
    ['as a shell reports a kill', 'kill -KILL $$', 137],
    ['as a shell reports a termination', 'kill -TERM $$', 143],
  ])('with the status of the command: %s', async (_what, script, code) => {
    expect(await sandbox.runHere(['exec', '--', 'sh', '-c', script])).toMatchObject({
      code,
      stdout: '',
      stderr: '',
    });
  });

  test('a command that does not exist: 127, as from a shell', async () => {
    const { code, stdout, stderr } = await sandbox.runHere(['exec', '--json', '--', 'no-such-command-here']);
    expect(code).toBe(127);
    expect(stderr).toBe('voicectl: Cannot run no-such-command-here: command not found\n');
    expect(jsonLines(stdout)).toEqual([
      expect.objectContaining({ type: 'error', code: 'usage', exitCode: 127 }),
    ]);
  });

  test('a command that cannot be run: 126', async () => {
    const file = sandbox.write('data.txt', 'no program');
    const { code, stdout, stderr } = await sandbox.runHere(['exec', '--', file]);
    expect({ code, stdout }).toEqual({ code: 126, stdout: '' });
    expect(stderr).toMatch(/^voicectl: Cannot run .*data\.txt: .*\n$/);
  });

  test('nothing is added to the JSON of the command', async () => {
    const { code, stdout } = await sandbox.runHere(['exec', 'no-such-command-here', '--json']);
    expect({ code, stdout }).toEqual({ code: 127, stdout: '' });
  });

  test('no command at all: exit 2', async () => {
    expect(await sandbox.runHere(['exec'])).toMatchObject({ code: 2, stdout: '' });
  });

  test.each([
    ['SIGINT', 'int'],
    ['SIGTERM', 'term'],
  ] as const)('%s is passed to the command, and its status comes back', async (name, said) => {
    const running = sandbox.start(['exec', '--', ...waiting]);
    await running.line(/^at /);
    running.signal(name);
    const { code, stdout } = await running.ended;
    expect({ code, said: stdout.trimEnd().split('\n').at(-1) }).toEqual({ code: 9, said });
  });

  test('SIGHUP is passed to the command, and ends both as a hang-up does', async () => {
    const running = sandbox.start(['exec', '--', 'sh', '-c', 'echo "$$ runs"; exec sleep 60']);
    const pid = Number.parseInt(await running.line(/runs$/), 10);
    running.signal('SIGHUP');
    expect((await running.ended).code).toBe(129);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  test('a second request ends a command that ignores the first', async () => {
    const script = `trap '' INT TERM; echo "$$ runs"; exec sleep 60`;
    const running = sandbox.start(['exec', '--', 'sh', '-c', script]);
    const pid = Number.parseInt(await running.line(/runs$/), 10);
    running.signal('SIGTERM');
    running.signal('SIGINT');
    const { code } = await running.ended;
    expect([130, 143]).toContain(code);
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  test('a request to end that comes before the command runs prevents it from running', async () => {
    const aborted = AbortSignal.abort(new VoicectlError('terminated', 'Terminated'));
    const options = { signal: aborted, leaveCtrlC() {}, cwd: sandbox.dir, env: process.env };
    await expect(runChild(['touch', 'ran'], options)).rejects.toMatchObject({ exitCode: 143 });
    expect(existsSync(sandbox.path('ran'))).toBe(false);
  });
});

test('with -v what the emulator does is reported on standard error', async () => {
  await sandbox.standIn();
  const env = { PATH: `${sandbox.path('bin')}:${process.env.PATH}` };
  const command = ['sh', '-c', 'voicectl token --device d1 >token'];
  const { stderr } = await sandbox.runHere(['exec', '-v', '--', ...command], { env });
  expect(sandbox.read('token')).toMatch(/^eyJ\S+\n$/);
  expect(stderr).toContain('d1  token  issued');
});

test.skipIf(!hasTmux)('on a terminal it is printed uncoloured: colours would be escaped', async () => {
  const bin = join(import.meta.dirname, '..', '..', 'bin', 'voicectl.js');
  await sandbox.standIn();
  const token = sandbox.path('bin/voicectl');
  const command = `${process.execPath} ${bin} exec -v -- sh -c '${token} token >token'`;
  const terminal = await terminals.start(`${command}; echo it" is over"`, {
    columns: 150,
    rows: 30,
    cwd: sandbox.dir,
    env: { HOME: sandbox.dir, CI: '', NO_COLOR: '' },
  });
  await expect.poll(terminal.screen).toContain('it is over');
  const shown = await terminal.screen();
  expect(shown).toContain('token  issued');
  expect(shown).not.toContain('u001b');
});

test.skipIf(!hasTmux)(
  'a command that outlives Ctrl-C still gets the next signal, and a second to end',
  async () => {
    const bin = join(import.meta.dirname, '..', '..', 'bin', 'voicectl.js');
    const traps = `trap 'kill -TERM $PPID' INT; trap 'echo cleaned up; exit 9' TERM`;
    writeFileSync(sandbox.path('waits.sh'), `${traps}\necho waiting\nwhile :; do sleep 0.05; done\n`);
    const script = `${process.execPath} ${bin} exec -- sh waits.sh; echo "code" $?`;
    const terminal = await terminals.start(script, {
      columns: 150,
      rows: 30,
      cwd: sandbox.dir,
      env: { HOME: sandbox.dir },
    });
    await expect.poll(terminal.screen).toMatch(/^waiting/m);
    terminal.press('C-c');
    await expect.poll(terminal.screen).toMatch(/^code/m);
    expect(await terminal.screen()).toMatch(/cleaned up\ncode 9/);
  },
);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('without --target, settings of the proxy have no effect', () => {
  const given = [
    ['--fail-on', 'violation'],
    ['--record', 'rr'],
    ['--target-timeout', '1s'],
    ['--target-ws', 'ws://127.0.0.1:1'],
    ['--allow-plaintext'],
    ['--ca', 'cert.pem'],
  ];
  test.each(given)('%s is refused', async (...flags) => {
    const { code, stderr } = await sandbox.runHere(['exec', ...flags, '--', 'true']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(`${flags[0]} needs --target`),
    });
  });

  test.each(given)('%s is refused too if only the config file has a target', async (...flags) => {
    sandbox.write('voicectl.config.yaml', 'target: https://service.example\n');
    const { code, stderr } = await sandbox.runHere(['exec', ...flags, '--', 'touch', 'ran']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(new RegExp(`${flags[0]} needs --target.*\n.*for proxy`)),
    });
    expect(existsSync(sandbox.path('ran'))).toBe(false);
  });

  test('in a config file they are for proxy, and in the environment for other commands', async () => {
    sandbox.write(
      'voicectl.config.yaml',
      'targetTimeout: 30s\ntargetWs: ws://127.0.0.1:1\nproxyPlaintext: true\n',
    );
    const env = { VOICECTL_CA: 'cert.pem' };
    expect(await sandbox.runHere(['exec', '--', 'true'], { env })).toMatchObject({ code: 0, stderr: '' });
  });
});

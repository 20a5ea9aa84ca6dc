import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { hasTools } from '../audio/files.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { openStream } from '../helpers/stream-client.ts';
import { grant, startTokenStub } from '../helpers/token-stub.ts';
import { fixture, jsonLines, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const message = /^voicectl: .+\n( {2}.+\n){0,2}$/;
const file = ['--file', fixture('barge-in.wav')];

/** Makes an import of the program fail in an unexpected way. */
const broken = (statement: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    `import os from 'node:os'; import { syncBuiltinESMExports } from 'node:module'; ${statement}; syncBuiltinESMExports();`,
  )}`,
});

describe('an error', () => {
  test.each([
    ['an unknown command', ['strem'], 'usage', 2, 'Did you mean stream?'],
    ['the help of an unknown command', ['help', 'strem'], 'usage', 2, 'did you mean stream?'],
    [
      'the help of an unknown subcommand',
      ['help', 'emulator', 'stat'],
      'usage',
      2,
      'did you mean emulator state?',
    ],
    ['an unknown flag', ['token', '--retires', '1'], 'usage', 2, 'Did you mean --retries?'],
    ['a flag without its value', ['token', '--device'], 'usage', 2, '--device'],
    [
      'a value that is not valid',
      ['stream', ...file, '--pace', 'fast'],
      'usage',
      2,
      '--pace: "fast" is not valid: expected realtime, max, or a factor',
    ],
    ['an invalid duration', ['token', '--timeout', 'soon'], 'usage', 2, 'expected a duration'],
    ['a duration that is too long for a timer', ['token', '--timeout', '30d'], 'usage', 2, 'at most 24 days'],
    ['an invalid URL', ['token', '--base-url', 'localhost:8787'], 'usage', 2, 'http://'],
    [
      'a URL with a password',
      ['token', '--base-url', 'http://u:canary@localhost'],
      'usage',
      2,
      'without a user name',
    ],
    ['a URL with a query', ['token', '--base-url', 'http://localhost/?a=b'], 'usage', 2, 'without a query'],
    ['an invalid output format', ['token', '--output', 'xml'], 'usage', 2, 'plain'],
    ['a missing config file', ['token', '--config', 'missing.yaml'], 'bad-config', 2, 'missing.yaml'],
    ['a profile without a config file', ['token', '--profile', 'p'], 'bad-config', 2, 'profile p'],
    [
      'a reply mode without its argument',
      ['stream', ...file, '--local', '--reply', 'exec:'],
      'usage',
      2,
      '"exec:" is not valid: expected exec:COMMAND',
    ],
    [
      'an output below a file',
      ['stream', ...file, '--local', '--out', `${fixture('hello.wav')}/o.wav`],
      'input-output',
      8,
      'a part of its path is not a folder',
    ],
    ['missing input', ['stream', '--file', 'missing.wav'], 'bad-input', 2, 'missing.wav'],
    [
      'nobody at the address',
      ['token', '--retries', '0', '--base-url', 'http://127.0.0.1:9'],
      'connect-failed',
      4,
      'connection refused',
    ],
    [
      'nobody at the address of the stream',
      ['stream', ...file, '--ws-url', 'ws://127.0.0.1:9', '--base-url', 'SERVE'],
      'connect-failed',
      4,
      'connection refused',
    ],
    ['HTTP where TLS was expected', ['token', '--retries', '0', '--base-url', 'TLS'], 'tls-failed', 4, 'TLS'],
    [
      'output that cannot be written',
      ['stream', ...file, '--out', 'no/folder/o.wav', '--local'],
      'input-output',
      8,
      'folder does not exist',
    ],
  ])(
    '%s is reported in up to three lines, and with --json as the last object',
    async (_what, words, code, exitCode, why) => {
      const needed = words.some((word) => word === 'SERVE' || word === 'TLS');
      const baseUrl = needed ? (await sandbox.serveHere()).baseUrl : '';
      const args = words.map(
        (word) => ({ SERVE: baseUrl, TLS: baseUrl.replace('http', 'https') })[word] ?? word,
      );
      const plain = await sandbox.runHere(args);
      expect({ code: plain.code, stderr: plain.stderr }).toEqual({
        code: exitCode,
        stderr: expect.stringMatching(message),
      });
      expect(plain.stderr).toContain(why);
      expect(plain.stderr).not.toContain('canary');
      const {
        stdout,
        stderr,
        code: exit,
      } = await sandbox.runHere([args[0] ?? '', '--json', ...args.slice(1)]);
      expect({ exit, stderr }).toEqual({ exit: exitCode, stderr: plain.stderr });
      expect(jsonLines(stdout).at(-1)).toMatchObject({
        type: 'error',
        code,
        exitCode,
        message: expect.any(String),
      });
    },
  );

  test('of a command group without a command names the commands of the group', async () => {
    expect(await sandbox.runHere(['emulator'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^voicectl: emulator: expected one of state, journal, .*\n {2}See voicectl emulator --help\.\n$/,
      ),
    });
  });

  test.each([['--output=json'], ['--output', 'json'], ['--json']])(
    'has its object with %s %s',
    async (...flags) => {
      const { stdout } = await sandbox.runHere([
        'token',
        '--retries',
        '0',
        '--base-url',
        'http://127.0.0.1:9',
        ...flags.filter(Boolean),
      ]);
      expect(jsonLines(stdout)).toEqual([expect.objectContaining({ type: 'error', exitCode: 4 })]);
    },
  );

  test.each([
    ['SIGHUP', 129, 'hung-up'],
    ['SIGTERM', 143, 'terminated'],
  ] as const)('of a command that %s ends is its last line, too', async (signal, exitCode, error) => {
    const running = sandbox.start(['stream', '--file', fixture('hello.wav'), '--local', '--json', '--loop']);
    await running.line(/"state":"live"/);
    running.signal(signal);
    const { code, stdout } = await running.ended;
    expect({ code, last: jsonLines(stdout).at(-1) }).toMatchObject({
      code: exitCode,
      last: { type: 'error', code: error, kind: 'cancelled', exitCode },
    });
  });

  test('has its object if the config file requests JSON, and not otherwise', async () => {
    const args = ['token', '--retries', '0', '--base-url', 'http://127.0.0.1:9'];
    expect((await sandbox.runHere(args)).stdout).toBe('');
    expect((await sandbox.runHere(['json'])).stdout).toBe('');
    sandbox.write('voicectl.config.yaml', 'output: json\n');
    expect(jsonLines((await sandbox.runHere(args)).stdout)).toEqual([
      expect.objectContaining({ type: 'error', exitCode: 4 }),
    ]);
  });

  test.skipIf(!hasTools('mkfifo'))('names a config file that nobody writes', async () => {
    execFileSync('mkfifo', [sandbox.path('voicectl.config.yaml')]);
    expect(await sandbox.runHere(['token', '--local', '--timeout', '1s'])).toMatchObject({
      ...{ code: 7, stdout: '' },
      stderr: 'voicectl: Timed out after 1 s, waiting for the config file\n  --timeout sets this limit.\n',
    });
    expect((await sandbox.runHere(['complete', '--', 'token', '--profile', ''])).stdout).toBe(':none\n');
  });

  test.skipIf(!hasTools('mkfifo')).each([
    ['the audio', 'stream --local --file'],
    ['a dialect', 'token --local --dialect'],
    ['certificates', 'token --base-url http://127.0.0.1:9 --ca'],
    ['a key', 'token --base-url http://127.0.0.1:9 --api-key-file'],
  ])('names what was to be read: %s', async (_what, words) => {
    execFileSync('mkfifo', [sandbox.path('pipe')]);
    const args = [...words.split(' '), 'pipe', '--timeout', '1s'];
    const { code, stderr } = await sandbox.runHere(args, { clock: createManualClock(Date.now()) });
    expect({ code, stderr }).toEqual({
      ...{
        code: 7,
        stderr: 'voicectl: Timed out after 1 s, waiting for pipe\n  --timeout sets this limit.\n',
      },
    });
  });

  test.skipIf(process.platform === 'win32').each([
    ['token --local --device d1 --decode', 0, /"sub": "d1"/],
    ['--version', 0, /^\d/],
    ['complete -- token --prof', 0, /^--profile/],
    ['token --local --config c.yaml', 8, /^voicectl: The working folder no longer exists\n {2}.+\n$/m],
    ['mcp', 8, /^voicectl: The working folder no longer exists$/m],
  ])('in a folder that was removed: %s', async (words, exitCode, says) => {
    const { code, stdout, stderr } = await sandbox.shell(
      `mkdir gone; cd gone; rmdir ../gone; voicectl ${words}`,
    );
    expect({ code, says: stdout + stderr }).toEqual({ code: exitCode, says: expect.stringMatching(says) });
  });

  test('has a stack with --debug, and none without', async () => {
    const { code, stderr } = await sandbox.runHere(['stream', '--debug']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/\n\s+at /);
  });

  test('shows nothing from a service that a terminal would obey', async () => {
    const text = 'a\u001b]0;owned\u0007\u009b31m\u202eb\r\nc';
    const { baseUrl } = await startTokenStub(sandbox, (response) => {
      response.writeHead(401).end(JSON.stringify({ error: { code: text, message: text } }));
    });
    const { stdout, stderr } = await sandbox.runHere(['token', '--base-url', baseUrl, '--json', '--debug']);
    expect(stdout + stderr).not.toMatch(/[\u001b\u0007\u009b\u202e\r]/);
    expect(JSON.parse(stdout)).toMatchObject({ details: { serviceCode: text, serviceMessage: text } });
  });
});

describe('a limit of connections', () => {
  test('that is reached: exit 5, with the service’s message', async () => {
    const { baseUrl, wsUrl } = await sandbox.serveHere(['--max-connections', '1']);
    const { stdout } = await sandbox.runHere(['token', '--device', 'd1', '--base-url', baseUrl]);
    const other = openStream(wsUrl);
    sandbox.defer(() => other.socket.terminate());
    await other.opened;
    await other.send(stdout.trimEnd());
    await other.connected;
    const ended = await sandbox.runHere([
      'stream',
      ...file,
      '--device',
      'd1',
      '--base-url',
      baseUrl,
      '--json',
    ]);
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({
      code: 5,
      stderr: expect.stringMatching(message),
    });
    expect(ended.stderr).toContain('CONNECTION_LIMIT_EXCEEDED');
    expect(jsonLines(ended.stdout).at(-1)).toMatchObject({
      type: 'error',
      code: 'too-many-connections',
      exitCode: 5,
    });
  });
});

describe('a bug of ours', () => {
  test('is exit 70: the stack, and where to report it', async () => {
    const env = broken(`os.hostname = () => { throw new Error('no host'); }`);
    const { code, stdout, stderr } = await sandbox.run(['token', '--local', '--json'], { env });
    expect(code).toBe(70);
    expect(stderr).toMatch(
      /^voicectl: no host\n {2}This is a bug in voicectl\. Please report it to the maintainers of your copy\nError: no host\n\s+at /,
    );
    expect(jsonLines(stdout)).toEqual([
      expect.objectContaining({ type: 'error', code: 'internal', exitCode: 70 }),
    ]);
  });

  test.each([
    ['serve', ['serve', '--port', '0']],
    ['exec', ['exec', '--', 'sleep', '60']],
  ])('that nothing catches ends %s with 70 as well', async (_what, args) => {
    const env = broken(`setTimeout(() => { throw new Error('out of the blue'); }, 1500).unref()`);
    const { code, stderr } = await sandbox.run(args, { env });
    expect({ code, stderr }).toEqual({
      code: 70,
      stderr: expect.stringMatching(
        /^voicectl: out of the blue\n {2}This is a bug.*\nError: out of the blue\n\s+at /,
      ),
    });
  });

  test('that leaves nothing to wait for ends with 70, and is reported', async () => {
    const env = broken(`import fs from 'node:fs/promises'; fs.readdir = () => new Promise(() => {})`);
    const { code, stderr } = await sandbox.run(['inspect', 'recording'], { env });
    expect({ code, stderr }).toEqual({
      code: 70,
      stderr: expect.stringMatching(
        /^voicectl: The command has not ended, .*\n {2}This is a bug in voicectl/m,
      ),
    });
  });
});

describe('what needs no service', () => {
  test.each([['--version'], ['-V']])('%s prints the version and nothing else', async (flag) => {
    const { code, stdout, stderr } = await sandbox.runHere([flag]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
  });

  test('--version --verbose says how it was installed, and what runs it', async () => {
    const { code, stdout } = await sandbox.run(['--version', '--verbose']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^voicectl \d+\.\d+\.\d+\n {2}npm package in \//);
    expect(stdout).toContain(`  Node ${process.versions.node} on ${process.platform} ${process.arch}\n`);
  });

  test.each([
    [[], 'stream'],
    [['--help'], 'stream'],
    [['help', 'token'], '--retries'],
    [['help', 'emulator'], 'Usage: voicectl emulator [options] [command]'],
    [['help', 'emulator', 'state'], 'Usage: voicectl emulator state'],
    [['help', 'load', 'merge', '--all'], 'Usage: voicectl load merge'],
    [['help', 'emulator', 'fault', 'add'], 'Usage: voicectl emulator fault'],
    [['help', 'devices', '--json'], '"name":"audio"'],
    [['help', '--help'], 'Usage: voicectl help'],
    [['help', 'help'], 'Usage: voicectl help'],
    [['serve', '--help'], '--accept-key'],
    [['exec', '-h'], '<command...>'],
    [['token', '--help'], 'VOICECTL_API_KEY'],
    [['stream', '--help'], '--expect-audio'],
    [['completion', '--help'], 'bash, zsh or fish'],
  ])('the help for %j is printed, exit 0', async (args, text) => {
    const { code, stdout, stderr } = await sandbox.runHere(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(text);
  });

  test('help with nothing but an unknown flag asks for a command', async () => {
    const { code, stderr } = await sandbox.runHere(['help', '--zzz']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'voicectl: Name a command\n  See voicectl --help.\n',
    });
  });

  // Printed before the commands are known, by the help, and by a command.
  test.each([['--version'], ['--help'], ['token --local']])(
    '%s to a full disk: exit 8 and why; to a closed pipe: exit 8 and no message',
    async (words) => {
      const full = await sandbox.shell(`voicectl ${words} >/dev/full; echo "exit $?" >&2`);
      expect(full.stderr).toMatch(/^voicectl: Cannot write to standard output: .*\nexit 8\n$/);
      const closed = await sandbox.shell(`{ sleep 0.3; voicectl ${words}; echo "exit $?" >&2; } | true`);
      expect(closed.stderr).toBe('exit 8\n');
    },
  );

  test('errors that cannot be written keep their exit code', async () => {
    const { stdout } = await sandbox.shell('voicectl stream 2>/dev/full; echo "exit $?"');
    expect(stdout).toBe('exit 2\n');
    const { baseUrl } = await startTokenStub(sandbox, grant('t'));
    const noted = await sandbox.shell(`voicectl token -v --base-url ${baseUrl} 2>/dev/full; echo "exit $?"`);
    expect(noted.stdout).toBe('t\nexit 0\n');
  });
});

test.each([
  [['token', '--mic'], '--mic is an option of stream. See voicectl token --help.'],
  [['load', '--local'], '--local is an option of token, stream and others. See voicectl load --help.'],
  [['token', '--file', 'x'], '--file is an option of stream and load. See voicectl token --help.'],
  [['stream', '--nope'], 'See voicectl stream --help.'],
])('%j names the commands that the option belongs to', async (args, hint) => {
  const { code, stderr } = await sandbox.runHere(args);
  expect({ code, hint: stderr.split('\n')[1]?.trim() }).toEqual({ code: 2, hint });
});

import { describe, expect, test } from 'vitest';
import { createCertificate } from '../../src/wire/server/self-signed.ts';
import { runInProcess } from '../helpers/in-process.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { setUpServices } from '../helpers/services.ts';
import { grant, startTokenStub } from '../helpers/token-stub.ts';
import { fixture, fixturePcm, jsonLines, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const services = setUpServices();

const run = (input: string, ...args: string[]) =>
  runInProcess(['stream', '--interactive', '--local', ...args], { clock: createManualClock(), input });

describe('a raw session', () => {
  test('sends what is typed, and shows each frame of both directions', async () => {
    const { code, stdout } = await run(
      'hello\n:binary 00ff\n:ping\n:nonsense\n:wait 1s\n:close 4000\n',
      '--reply',
      'echo',
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/· token request: 200 after \d+ ms/);
    expect(stdout).toContain('· upgrade: 101');
    expect(stdout).toMatch(/↑ text {3}the token, \d+ bytes/);
    expect(stdout).toMatch(/↑ text {3}hello/);
    expect(stdout).toMatch(/↓ text {3}\{"type":"service_voice_connected"\}/);
    expect(stdout).toMatch(/↓ text {3}\{"type":"error".*UNEXPECTED_TEXT/);
    expect(stdout).toMatch(/↑ binary 2 bytes, 0\.1 ms at -?\d+ dBFS: 00 ff/);
    expect(stdout).toMatch(/↓ binary 2 bytes/);
    expect(stdout).toContain('↑ ping');
    expect(stdout).toContain('↓ pong');
    expect(stdout).toContain('! there is no command :nonsense; :help lists them');
    expect(stdout).toContain('· closed by you: 4000');
  });

  test('sends a file in real time, and folds audio on request; the end of the input closes', async () => {
    const { code, stdout } = await run(':fold on\n:file hello.wav\n', '--reply', 'silence');
    expect(code).toBe(0);
    const counts = [...stdout.matchAll(/↑ binary (\d+) messages, (\d+) bytes/g)];
    expect(counts.length).toBeGreaterThan(1);
    expect(Number(counts[0]?.[1])).toBeLessThan(60);
    expect(stdout).toContain('· closed by you: 1000');
  });

  test('sends audio clips one after the other, and :stop drops what is waiting', async () => {
    const sent = async (input: string) => {
      const { stdout } = await run(input, '--reply', 'silence', '--json');
      const frames = jsonLines(stdout).filter(({ from, opcode }) => from === 'device' && opcode === 'binary');
      return frames.reduce((sum, { bytes }) => sum + Number(bytes), 0);
    };
    const hello = await sent(':file hello.wav\n');
    expect(await sent(':file hello.wav\n:silence 500ms\n:file hello.wav\n')).toBe(2 * hello + 16_000);
    expect(await sent(':file hello.wav\n:file hello.wav\n:stop\n:silence 20ms\n')).toBeLessThan(hello);
  });

  test('sends no file that needs conversion with --strict-format', async () => {
    const { stdout } = await run(':file tone-48k-stereo.wav\n', '--reply', 'silence', '--strict-format');
    expect(stdout).toMatch(/^! .*tone-48k-stereo\.wav/m);
    expect(stdout).not.toContain('↑ binary');
  });

  test('waits for a service that does not read, instead of keeping what is to be sent', async () => {
    const wsUrl = await services.ws((peer, { socket }) => {
      peer.once('message', () => socket.pause());
    });
    const { stdout, stderr } = await runInProcess(
      ['stream', '--interactive', '--json', '--pace', 'max', '--token-from', 'TOKEN', '--ws-url', wsUrl],
      // On the clock of the machine: a test's clock stands still while something waits in a socket.
      { env: { TOKEN: 'token-1' }, input: ':silence 20m\n' },
    );
    expect(stdout.match(/"opcode":"binary"/g)?.length).toBeLessThan((20 * 60_000) / 20);
    expect(stderr).toContain('The service has read none of');
  });

  test('waits for the service before each message, and goes on as soon as it reads', async () => {
    const large = Array.from({ length: 24 }, () => [
      'x'.repeat(1_000_000),
      `:binary ${'00'.repeat(500_000)}`,
    ]);
    let shown = '';
    let sentBefore = 0;
    const received: number[] = [];
    const wsUrl = await services.ws((peer) => {
      // The token comes first.
      peer.once('message', () => {
        peer.on('message', (data: Buffer) => {
          sentBefore ||= shown.match(/↑ (text {3}x|binary)/g)?.length ?? 0;
          received.push(data.length);
        });
      });
    });
    const { code, stdout } = await runInProcess(
      ['stream', '--interactive', '--pace', 'max', '--token-from', 'TOKEN', '--ws-url', wsUrl],
      {
        env: { TOKEN: 'token-1' },
        input: `${large.flat().join('\n')}\n:file ${fixture('barge-in.wav')}\n`,
        onOutput: (_, data) => {
          shown += data.toString();
        },
      },
    );
    // Some lie in the buffers of the system.
    expect(sentBefore).toBeLessThan(40);
    expect(received.slice(0, 48)).toEqual(large.flatMap(() => [1_000_000, 500_000]));
    expect(received.slice(48)).toHaveLength(Math.ceil(fixturePcm('barge-in.wav').length / 640));
    expect(stdout).not.toMatch(/^! /m);
    expect(code).toBe(0);
  });

  test('shows a frame of silence as silence', async () => {
    const { stdout } = await run(':silence 20ms\n', '--reply', 'silence');
    expect(stdout).toContain('↑ binary 640 bytes, 20.0 ms of silence: 00 00');
  });

  test('reports each frame to programs as JSON', async () => {
    const { stdout } = await run('hi\n', '--reply', 'silence', '--json');
    const told = jsonLines(stdout);
    expect(told).toContainEqual(
      expect.objectContaining({ type: 'frame', from: 'device', opcode: 'text', text: 'hi' }),
    );
    expect(told.at(-1)).toMatchObject({ type: 'close', by: 'device', code: 1000 });
    expect(told.every(({ t }) => typeof t === 'number')).toBe(true);
    expect(told.filter((one) => 'version' in one)).toEqual([told[0]]);
    expect(stdout).not.toMatch(/eyJ/);
  });

  test('tells programs folded audio as objects, and what is for people on standard error', async () => {
    const typed = ':fold on\n:help\n:nonsense\n:file missing.wav\n:binary 00ff\n:binary 00\n:fold off\n';
    const { stdout, stderr } = await run(typed, '--reply', 'silence', '--json');
    expect(jsonLines(stdout).filter(({ type }) => type === 'folded')).toEqual([
      { type: 'folded', t: expect.any(Number), from: 'device', count: 2, bytes: 3 },
    ]);
    expect(stderr).toContain(':file');
    expect(stderr).toContain('! there is no command :nonsense');
    expect(stderr).toContain('! Cannot read missing.wav');
  });

  test('refuses a line that is too long to have been typed, and closes', async () => {
    const { code, stdout, stderr } = await run(`hi\n${'\0'.repeat(3 * 1024 * 1024)}`, '--reply', 'silence');
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('A line of standard input is longer than'),
    });
    expect(stdout).toContain('· closed by you: 1000');
  });

  test('reads lines however they arrive, and however they end', async () => {
    const long = 'é'.repeat(200_000);
    const { stdout } = await run(`one\r\n${long}\ntwo`, '--reply', 'silence', '--json');
    const texts = jsonLines(stdout).filter(({ from, opcode }) => from === 'device' && opcode === 'text');
    expect(texts.map(({ text, bytes }) => text ?? bytes).slice(1)).toEqual(['one', long, 'two']);
  });

  test('fails if the service ends it', async () => {
    const { code, stderr } = await run(':wait 5s\n', '--fault', 'abnormal-close');
    expect(code).toBe(6);
    expect(stderr).not.toBe('');
  });

  test('fails if the service ends it normally but after an error, like a session', async () => {
    const scenario = sandbox.write(
      'quota.yaml',
      'steps:\n  - { when: connected, do: [{ error: { code: QUOTA, message: used up } }, { close: { code: 1000 } }] }\n',
    );
    const { code, stderr } = await run(':wait 5s\n', '--scenario', scenario);
    expect({ code, stderr }).toEqual({
      code: 6,
      stderr: 'voicectl: The service ended the stream: close 1000 normal, QUOTA: used up\n',
    });
  });

  test.each([
    ['auth-refused', 3],
    ['connection-limit', 5],
  ])('that is refused with %s fails like a session: exit %i', async (fault, exitCode) => {
    const { code } = await run(':wait 5s\n', '--fault', fault);
    expect(code).toBe(exitCode);
  });

  test.each([
    ['--junit', 'j.xml'],
    ['--html', 'h.html'],
    ['--expect-event', 'nope'],
    ['--max-audio', '0'],
    ['--expect-close', '4000'],
    ['--warmup', '1'],
  ])('cannot be combined with %s: it judges nothing', async (flag, value) => {
    const { code, stderr } = await run('', flag, value.includes('.') ? sandbox.path(value) : value);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(
        `--interactive cannot be combined with ${flag}: an interactive session is not judged`,
      ),
    });
  });

  test('has no sound device, and refuses flags for one', async () => {
    const { code, stderr } = await run('', '--output-device', 'usb');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('needs a loudspeaker') });
  });

  test.each([
    ['--token-from', 'a key or token'],
    ['--api-key-file', 'a key or token'],
    ['--ca', 'the certificates of --ca'],
  ])('reads nothing else from the standard input that has the typed lines: %s', async (flag, what) => {
    const { cert } = await createCertificate(['127.0.0.1']);
    const stub = await startTokenStub(sandbox, grant('t'));
    const argv = ['stream', '--interactive', '--base-url', stub.baseUrl, flag, '-'];
    const { code, stdout, stderr } = await runInProcess(argv, {
      input: `${cert}\nfirst.line.x\nhello\n`,
    });
    expect({ code, stdout, connections: stub.connections }).toEqual({
      code: 2,
      stdout: '',
      connections: 0,
    });
    expect(stderr).toContain(`Standard input cannot be both the typed lines and ${what}`);
  });

  test('reads typed lines with --local although a config file names standard input for certificates', async () => {
    const config = sandbox.write('voicectl.config.yaml', 'ca: "-"\n');
    const { code, stdout } = await run('hello\n', '--config', config);
    expect(code).toBe(0);
    expect(stdout).toMatch(/↑ text {3}hello/);
  });

  test.each<[string, string[], Record<string, string>]>([
    ['a token is given', ['--token-from', 'TOKEN'], { TOKEN: 'token-1' }],
    ['the emulator needs none', ['--local'], {}],
    ['the key is in the environment', [], { VOICECTL_API_KEY: 'key-of-mine-1' }],
  ])(
    'reads typed lines although a config file names standard input for a key: %s',
    async (_why, args, env) => {
      const config = sandbox.write('voicectl.config.yaml', 'apiKeyFile: "-"\n');
      const stub = await startTokenStub(sandbox, grant('t'));
      const wsUrl = await services.ws((peer) => peer.once('message', () => peer.close(1000)));
      const target = args.includes('--local') ? [] : ['--base-url', stub.baseUrl, '--ws-url', wsUrl];
      const { stdout, stderr } = await runInProcess(
        ['stream', '--interactive', '--config', config, ...args, ...target],
        { env, clock: createManualClock(), input: 'hello\n' },
      );
      expect(stderr).not.toContain('Standard input cannot be both');
      expect(stdout).toContain('· upgrade: 101');
    },
  );

  test('cannot be combined with another source', async () => {
    const { code, stderr } = await run('', '--file', 'hello.wav');
    expect(code).toBe(2);
    expect(stderr).toContain('--interactive cannot be combined with --file');
    expect(stderr).toContain(':file hello.wav');
  });
});

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { comparePieces, isOver, longestSilenceMs, makeMurmur } from '../helpers/likeness.ts';
import { ahead, hasSoundServer, type SoundServer, startSoundServer } from '../helpers/sound-server.ts';
import { jsonLines, program, setUpSandbox, summaryOf } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const spokenMs = 3_000;

describe.skipIf(!hasSoundServer())('live audio', () => {
  let server: SoundServer;
  beforeAll(async () => {
    server = await startSoundServer();
  });
  afterAll(() => server.close());

  /** Starts `stream --mic`; resolves once it is live. */
  const startLive = async (...args: string[]) => {
    const command = [...ahead, process.execPath, program, 'stream', '--mic', '--local', ...args];
    const running = sandbox.startShell(`exec ${command.map((word) => `'${word}'`).join(' ')}`, {
      env: server.env,
    });
    await running.line(/· live|"state":"live"/);
    return running;
  };
  const writeMurmur = () => {
    const pcm = makeMurmur(spokenMs);
    sandbox.write('murmur.raw', pcm);
    const format = ['-t', 'raw', '-r', '16000', '-e', 'signed', '-b', '16', '-c', '1'];
    execFileSync('sox', [...format, sandbox.path('murmur.raw'), sandbox.path('murmur.wav')]);
    return pcm;
  };
  const wavPcm = (name: string) => readFileSync(sandbox.path(name)).subarray(44);

  /**
   * Speaks into the microphone, lets the service echo it, and records what the loudspeaker plays. Also what a
   * recorder of the server's own hears: where that has gaps, the machine is too busy for sound, and nothing is learnt.
   */
  const carry = async (backend: string) => {
    const spoken = writeMurmur();
    const speaker = await server.record('spk.monitor');
    const control = await server.record('micsrc.monitor');
    const running = await startLive(
      ...['--reply', 'echo', '--audio-backend', backend, '--duration', '60s', '--json'],
      ...['--record-mic', 'mic.wav', '--out', 'reply.wav'],
    );
    await server.speak(sandbox.path('murmur.wav'));
    await eventually(() => isOver(speaker.heard())).toBe(true);
    running.signal('SIGINT');
    const { code, stdout, stderr } = await running.ended;
    const heard = { speaker: await speaker.stop(), control: await control.stop() };
    return { spoken, heard, code, stderr, summary: summaryOf(stdout), events: jsonLines(stdout) };
  };

  test.each(['naudiodon', 'pulse', 'alsa', 'decibri', 'sox'])(
    'what is said into the microphone comes out at the service and at the loudspeaker, by way of %s',
    { retry: 3, timeout: 60_000 },
    async (backend) => {
      const { spoken, heard, code, stderr, summary, events } = await carry(backend);
      expect({ code, stderr }).toEqual({
        code: 130,
        stderr: expect.stringMatching(/^voicectl: Interrupted\n$/),
      });
      expect(events[0]).toMatchObject({ source: `microphone (${backend})` });
      const whole = comparePieces(spoken, heard.control, { withinMs: 10_000 });
      expect(
        whole.every(({ likeness }) => likeness > 0.95),
        'the sound server itself has lost audio',
      ).toBe(true);

      const sent = comparePieces(spoken, wavPcm('mic.wav'), { withinMs: 10_000 });
      expect(Math.min(...sent.map(({ likeness }) => likeness))).toBeGreaterThan(0.95);
      // An echo: the service sends what it has heard.
      expect(wavPcm('reply.wav').subarray(0, 32_000).equals(wavPcm('mic.wav').subarray(0, 32_000))).toBe(
        true,
      );

      const played = comparePieces(spoken, heard.speaker, { withinMs: 10_000 });
      // Where the delay is corrected a piece is not quite itself.
      const alike = played.filter(({ likeness }) => likeness > 0.95);
      expect(alike.length / played.length).toBeGreaterThanOrEqual(0.9);
      expect(longestSilenceMs(heard.speaker)).toBeLessThanOrEqual(40);
      expect(summary.underruns).not.toBeNull();
    },
  );

  test.each(['naudiodon', 'pulse'])(
    'a sound server that dies ends the session with 8 and a hint, by way of %s; the files are whole',
    async (backend) => {
      const own = await startSoundServer();
      sandbox.defer(() => own.close());
      const running = sandbox.start(
        [
          ...['stream', '--mic', '--local', '--reply', 'echo', '--audio-backend', backend],
          ...['--record-mic', 'mic.wav', '--out', 'reply.wav'],
        ],
        { env: own.env },
      );
      await running.line(/↓ \d+ frames/);
      own.kill();
      const { code, stdout, stderr } = await running.ended;
      expect({ code, stderr }).toEqual({
        code: 8,
        stderr: expect.stringMatching(
          /^voicectl: The (microphone|loudspeaker) was lost: .+\n {2}.*sound server.+\n$/,
        ),
      });
      expect(stdout).toMatch(/^result +failed/m);
      for (const file of ['mic.wav', 'reply.wav']) {
        const seconds = Number(execFileSync('soxi', ['-D', sandbox.path(file)]).toString());
        expect(seconds).toBeGreaterThan(0.5);
      }
    },
  );

  test('a device process that is killed ends the session the same way', async () => {
    const running = await startLive('--reply', 'echo', '--audio-backend', 'naudiodon', '--out', 'reply.wav');
    await running.line(/↓ \d+ frames/);
    const host = execFileSync('pgrep', ['-f', 'device-host.js.*capture', '-P', String(running.child.pid)]);
    process.kill(Number(host.toString().trim()), 'SIGKILL');
    expect(await running.ended).toMatchObject({
      code: 8,
      stderr: expect.stringMatching(/^voicectl: The microphone was lost: was ended by SIGKILL\n {2}.+\n$/),
    });
    expect(Number(execFileSync('soxi', ['-D', sandbox.path('reply.wav')]).toString())).toBeGreaterThan(0.5);
  });

  test('a sound server that comes back in time is gone on with', { timeout: 60_000 }, async () => {
    const own = await startSoundServer();
    sandbox.defer(() => own.close());
    const running = sandbox.start(
      [
        ...['stream', '--mic', '--local', '--reply', 'echo', '--audio-backend', 'pulse', '--json'],
        ...['--device-timeout', '30s'],
      ],
      { env: own.env },
    );
    await running.line(/"direction":"in"/);
    own.kill();
    await running.line(/"code":"device-lost".*microphone/);
    await own.start();
    await running.line(/"code":"device-returned".*microphone/);
    await running.line(/"code":"device-returned".*loudspeaker/);
    running.signal('SIGINT');
    const { code, stdout } = await running.ended;
    expect(code).toBe(130);
    const events = jsonLines(stdout);
    const back = events.find((event) => event.code === 'device-returned')?.t as number;
    const later = events.filter(
      ({ type, direction, t }) => type === 'audio' && direction === 'out' && t! > back,
    );
    expect(later.length).toBeGreaterThan(0);
  });

  test.each(['naudiodon', 'alsa', 'decibri', 'sox'])(
    'nothing that %s prints comes to the terminal or into the audio of --out -',
    async (backend) => {
      const running = sandbox.start(
        [
          ...['stream', '--mic', '--local', '--reply', 'echo', '--audio-backend', backend],
          ...['--duration', '1500ms', '--out', '-', '--json'],
        ],
        { env: server.env },
      );
      const { code, stdoutBytes, stderr } = await running.ended;
      expect(code).toBe(0);
      // Every line is an event of ours, and every byte one of the AI's.
      const events = jsonLines(stderr);
      expect(events.every(({ t, type }) => typeof t === 'number' && typeof type === 'string')).toBe(true);
      expect(stdoutBytes.length).toBe(summaryOf(stderr).in.bytes);
      expect(stdoutBytes.every((byte) => byte === 0)).toBe(true);
    },
  );

  test('a microphone of digital silence, and the danger of feedback, are told of with what to do', async () => {
    const running = await startLive('--duration', '5s', '--json');
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    const warnings = jsonLines(stdout).filter(({ type }) => type === 'warning');
    expect(warnings).toEqual([
      expect.objectContaining({ code: 'headphones', message: expect.stringMatching(/^Use headphones/) }),
      expect.objectContaining({ code: 'microphone-silent', hint: expect.stringMatching(/muted/) }),
    ]);
    expect(summaryOf(stdout)).toMatchObject({ ok: true, underruns: expect.any(Number) });
  });

  test('a file is played too, to its end, with --play', async () => {
    const speaker = await server.record('spk.monitor');
    const pcm = writeMurmur();
    const { code, stdout } = await sandbox.run(
      [
        ...['stream', '--file', 'murmur.wav', '--play', '--local', '--reply', 'echo', '--json'],
        ...['--settle', '200ms', '--audio-backend', 'pulse', '--volume', '50'],
      ],
      { env: server.env },
    );
    expect(code).toBe(0);
    expect(summaryOf(stdout)).toMatchObject({ ok: true, underruns: expect.any(Number) });
    const played = comparePieces(pcm, await speaker.stop(), { withinMs: 10_000 });
    expect(played.at(-1)?.likeness).toBeGreaterThan(0.9);
  });

  test('devices lists inputs and outputs, the defaults marked', async () => {
    const options = { env: server.env };
    const { code, stdout } = await sandbox.run(['devices', '--audio-backend', 'pulse'], options);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\* +\d+ {2}.*\[mic\]$/m);
    expect(stdout).toMatch(/^\* +\d+ {2}.*\[spk\]$/m);
    const listed = JSON.parse(
      (await sandbox.run(['devices', '--audio-backend', 'pulse', '--json'], options)).stdout,
    );
    expect(listed).toMatchObject({
      version: expect.any(String),
      backend: 'pulse',
      outputs: [
        { index: 0, id: 'spk', isDefault: true },
        { index: 1, id: 'micsrc', isDefault: false },
      ],
    });
  });

  test('a device is chosen by its number or by a part of its name', async () => {
    const { stdout } = await sandbox.run(
      [
        ...['stream', '--mic', '--no-play', '--input-device', 'micsrc.mon', '--local', '--reply', 'silence'],
        ...['--duration', '500ms', '--json', '--audio-backend', 'pulse'],
      ],
      { env: server.env },
    );
    expect(summaryOf(stdout)).toMatchObject({ ok: true, underruns: null });
    const unknown = await sandbox.run(['stream', '--mic', '--local', '--input-device', 'gramophone'], {
      env: server.env,
    });
    expect(unknown).toMatchObject({ code: 8, stderr: expect.stringMatching(/knows no device "gramophone"/) });
  });

  test('devices test finds the delay from the loudspeaker to a microphone that hears it', {
    retry: 2,
  }, async () => {
    const { code, stdout } = await sandbox.run(
      ['devices', 'test', '--audio-backend', 'pulse', '--input-device', 'spk.monitor', '--json'],
      { env: server.env },
    );
    expect(code).toBe(0);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ input: 'pulse', output: 'pulse', level: { peakDbfs: -100 } });
    expect(result.loopMs).toBeGreaterThan(0);
    expect(result.loopMs).toBeLessThan(1_000);
  });

  test('doctor says by which way sound is reached, and why the others would not be', {
    timeout: 60_000,
  }, async () => {
    const { code, stdout } = await sandbox.run(['doctor', '--json'], { env: server.env });
    expect(code).toBe(0);
    const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Record<string, string>[] };
    const check = (name: string) => checks.find((one) => one.name === name);
    expect(ok).toBe(true);
    expect(check('node')).toMatchObject({ state: 'ok' });
    expect(check('target')).toMatchObject({ state: 'off', mend: expect.stringMatching(/voicectl serve/) });
    expect(check('naudiodon')).toMatchObject({ state: 'ok', found: 'used: captures, plays' });
    expect(check('pulse')).toMatchObject({ state: 'ok' });
  });
});

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, type TestContext, test, vi } from 'vitest';
import { ahead } from '../helpers/ahead.js';
import { startEmulatorFor } from '../helpers/emulators.ts';
import { runInProcess } from '../helpers/in-process.ts';
import { comparePieces, isOver, longestSilenceMs } from '../helpers/likeness.ts';
import { makeMurmur } from '../helpers/murmur.js';
import { hasNaudiodon, hasSoundServer, type SoundServer, startSoundServer } from '../helpers/sound-server.js';
import { jsonLines, program, sandboxFor, summaryOf } from '../helpers/voicectl.ts';

const spokenSeconds = 2;

/** One sound server for all tests of a block that leave it as it is. */
function shareSoundServer(options?: { isAwake: boolean }): () => Promise<SoundServer> {
  let starting: Promise<SoundServer> | undefined;
  afterAll(async () => (await starting)?.close());
  return () => {
    starting ??= startSoundServer(options);
    return starting;
  };
}

/** A folder for one test, and what the test does with it and a sound server. */
async function setUp(context: TestContext, serving: Promise<SoundServer>) {
  const sandbox = sandboxFor(context);
  const server = await serving;
  /** Starts the program. */
  const start = (args: readonly string[]) => sandbox.start(args, { env: server.env });
  /** Starts the program with priority over everything else, because its sound is judged. */
  const startAhead = (args: readonly string[]) => {
    const command = [...ahead, process.execPath, program, ...args];
    return sandbox.startShell(`exec ${command.map((word) => `'${word}'`).join(' ')}`, { env: server.env });
  };
  const writeMurmur = () => {
    const pcm = makeMurmur(spokenSeconds);
    sandbox.write('murmur.raw', pcm);
    const format = ['-t', 'raw', '-r', '16000', '-e', 'signed', '-b', '16', '-c', '1'];
    execFileSync('sox', [...format, sandbox.path('murmur.raw'), sandbox.path('murmur.wav')]);
    return pcm;
  };
  return {
    ...{ sandbox, server, start, startAhead, writeMurmur },
    wavPcm: (name: string) => readFileSync(sandbox.path(name)).subarray(44),
    seconds: (name: string) => Number(execFileSync('soxi', ['-D', sandbox.path(name)])),
  };
}

type Setting = Awaited<ReturnType<typeof setUp>>;

const hasSound = hasSoundServer();
const isBuilt = hasNaudiodon();
const withNaudiodon = test.skipIf(!isBuilt);
/** The audio backends that are available. */
const ways = (...names: string[]) => names.filter((name) => isBuilt || name !== 'naudiodon');

describe.skipIf(!hasSound)('live audio that is heard', { retry: 2, timeout: 60_000 }, () => {
  const shared = shareSoundServer();
  /**
   * Speaks into the microphone, lets the service echo it, and records what the loudspeaker plays, and also what a
   * recorder of the server itself hears: if that has gaps, the machine is too busy for sound.
   */
  const carry = async ({ sandbox, server, startAhead, writeMurmur }: Setting, backend: string) => {
    const spoken = writeMurmur();
    const speaker = await server.record('spk.monitor');
    const control = await server.record('micsrc.monitor');
    const running = startAhead([
      ...['stream', '--mic', '--local', '--reply', 'echo', '--audio-backend', backend],
      ...['--duration', '60s', '--json', '--record-mic', 'mic.wav', '--out', 'reply.wav'],
    ]);
    // A sound device that a busy machine could not open in time ends it: its exit code says so.
    const isLive = await running.line(/"state":"live"/).then(
      () => true,
      () => false,
    );
    if (isLive) {
      await server.speak(sandbox.path('murmur.wav'));
      // If nothing arrives, or its end is missing, the recording shows it.
      const played = () => expect(isOver(speaker.heard())).toBe(true);
      await vi.waitFor(played, { timeout: 10_000, interval: 50 }).catch(() => {});
    }
    running.signal('SIGINT');
    const { code, stdout, stderr } = await running.ended;
    const heard = { speaker: await speaker.stop(), control: await control.stop() };
    return { spoken, heard, code, stdout, stderr };
  };

  /** What is wrong with the audio; undefined if nothing is. */
  const findFault = (
    { wavPcm }: Setting,
    { spoken, heard }: Awaited<ReturnType<typeof carry>>,
  ): string | undefined => {
    const compare = (recording: Buffer) => comparePieces(spoken, recording, { withinMs: 10_000 });
    // What the server itself has lost says nothing about voicectl.
    const carried = compare(heard.control).map((piece) => piece.likeness >= 0.95);
    if (carried.filter(Boolean).length < carried.length / 2)
      return 'the sound server itself has lost most of it';
    const likeness = (recording: Buffer) =>
      compare(recording).flatMap((piece, index) => (carried[index] ? piece.likeness : []));
    const sent = Math.min(...likeness(wavPcm('mic.wav')));
    if (sent < 0.95) return `what was sent is like what was said by ${sent} only`;
    // Where the delay is corrected, a piece differs slightly from the original.
    const played = likeness(heard.speaker);
    const alike = played.filter((one) => one > 0.95).length / played.length;
    if (alike < 0.9) return `${alike * 100} % of what was played is like what was said`;
    const gapMs = longestSilenceMs(heard.speaker);
    return gapMs > 40 && carried.every(Boolean) ? `a gap of ${gapMs} ms` : undefined;
  };

  test.for(ways('pulse', 'naudiodon', 'alsa'))(
    'what is said into the microphone arrives at the service and at the loudspeaker, through %s',
    { timeout: 120_000, retry: 0 },
    async (backend, context) => {
      const setting = await setUp(context, shared());
      const faults: string[] = [];
      // Sound must be on time: on a busy machine a run may show nothing but delays.
      for (let attempt = 1; attempt <= 4; attempt += 1) {
        const carried = await carry(setting, backend);
        if (carried.code !== 130) {
          faults.push(carried.stderr);
          continue;
        }
        expect(carried.stderr).toBe('voicectl: Interrupted\n');
        const [first] = jsonLines(carried.stdout);
        expect(first).toMatchObject({ source: `microphone (${backend})` });
        expect(first).not.toHaveProperty('pace');
        expect(summaryOf(carried.stdout).underruns).not.toBeNull();
        // An echo: the service has heard the recorded audio.
        const [sent, echoed] = ['mic.wav', 'reply.wav'].map((name) =>
          setting.wavPcm(name).subarray(0, 32_000),
        );
        expect(sent!.equals(echoed!)).toBe(true);
        const fault = findFault(setting, carried);
        if (fault === undefined) return;
        faults.push(fault);
      }
      expect(faults).toEqual([]);
    },
  );

  test('a file is played too, to its end, with --play', async (context) => {
    const { server, startAhead, writeMurmur } = await setUp(context, shared());
    const speaker = await server.record('spk.monitor');
    const pcm = writeMurmur();
    const { code, stdout } = await startAhead([
      ...['stream', '--file', 'murmur.wav', '--play', '--local', '--reply', 'echo', '--json'],
      ...['--settle', '200ms', '--audio-backend', 'pulse', '--volume', '50'],
    ]).ended;
    expect(code).toBe(0);
    expect(summaryOf(stdout)).toMatchObject({ ok: true, underruns: expect.any(Number) });
    await context.expect.poll(() => isOver(speaker.heard()), { timeout: 20_000 }).toBe(true);
    const played = comparePieces(pcm, await speaker.stop(), { withinMs: 10_000 });
    expect(played.at(-1)?.likeness).toBeGreaterThan(0.9);
  });

  test('audio test finds the delay from the loudspeaker to a microphone that hears it', async (context) => {
    const { startAhead } = await setUp(context, shared());
    const { code, stdout } = await startAhead([
      ...['audio', 'test', '--audio-backend', 'pulse', '--input-device', 'spk.monitor', '--json'],
    ]).ended;
    expect(code).toBe(0);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ input: 'pulse', output: 'pulse', level: { peakDbfs: -100 } });
    expect(result.loopMs).toBeGreaterThan(0);
    expect(result.loopMs).toBeLessThan(1_000);
  });
});

/** These tests mostly wait for sound, and judge nothing that must be on time: several run at once. */
describe.skipIf(!hasSound).concurrent('live audio, interrupted', { timeout: 60_000 }, () => {
  /** Their loudspeakers are not idle: on a busy machine one would sleep for 2 s after each underrun, which is a loss. */
  const awake = { isAwake: true };
  const shared = shareSoundServer(awake);
  const setUpAwake = (context: TestContext) => setUp(context, shared());
  /** A sound server that may be ended. */
  const setUpOwn = async (context: TestContext) => {
    const starting = startSoundServer(awake);
    context.onTestFinished(async () => (await starting).close());
    return setUp(context, starting);
  };
  // PortAudio needs a third of a second of processor time to open, and has 3 s for it: it runs before the other tests.
  /** The flags for an emulator in this process: one inside each program takes longer to load. */
  const reach = async (context: TestContext, reply: string) => {
    const { baseUrl } = await startEmulatorFor(context, { reply });
    return ['--base-url', baseUrl];
  };
  const echo = (context: TestContext) => reach(context, 'echo');
  const silent = (context: TestContext) => reach(context, 'silence');

  test('doctor says which audio backend works, and why the others would not', async (context) => {
    const { startAhead } = await setUpAwake(context);
    const { code, stdout } = await startAhead(['doctor', '--json']).ended;
    expect(code).toBe(0);
    const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Record<string, string>[] };
    const check = (name: string) => checks.find((one) => one.name === name);
    expect(ok).toBe(true);
    expect(check('node')).toMatchObject({ state: 'ok' });
    expect(check('target')).toMatchObject({ state: 'off', mend: expect.stringMatching(/voicectl serve/) });
    expect(check('pulse')).toMatchObject({ state: 'ok', found: 'captures and plays' });
    expect(check('loudspeaker')).toMatchObject({
      found: expect.stringMatching(/^pulse, heard about \d+ ms/),
    });
    expect(check('naudiodon')?.state === 'ok').toBe(isBuilt);
  });

  test.for(ways('naudiodon', 'pulse'))(
    'a sound server that dies ends the session with 8 and a hint, through %s; the files are complete',
    async (backend, context) => {
      const { server, startAhead, seconds } = await setUpOwn(context);
      const running = startAhead([
        ...['stream', '--mic', ...(await echo(context)), '--audio-backend', backend],
        ...['--record-mic', 'mic.wav', '--out', 'reply.wav'],
      ]);
      await running.line(/↓ audio {2}\d+ frames?/);
      server.kill();
      const { code, stdout, stderr } = await running.ended;
      expect({ code, stderr }).toEqual({
        code: 8,
        stderr: expect.stringMatching(
          /^voicectl: The (microphone|loudspeaker) was lost: .+\n {2}.*sound server.+\n$/,
        ),
      });
      expect(stdout).toMatch(/^result +failed/m);
      for (const file of ['mic.wav', 'reply.wav']) expect(seconds(file)).toBeGreaterThan(0);
    },
  );

  withNaudiodon('a device process that is killed ends the session the same way', async (context) => {
    const { startAhead, seconds } = await setUpAwake(context);
    const running = startAhead([
      ...['stream', '--mic', ...(await echo(context)), '--audio-backend', 'naudiodon'],
      ...['--out', 'reply.wav'],
    ]);
    await running.line(/↓ audio {2}\d+ frames?/);
    const host = execFileSync('pgrep', ['-f', 'device-host.js.*capture', '-P', String(running.child.pid)]);
    process.kill(Number(host.toString().trim()), 'SIGKILL');
    expect(await running.ended).toMatchObject({
      code: 8,
      stderr: expect.stringMatching(/^voicectl: The microphone was lost: was ended by SIGKILL\n {2}.+\n$/),
    });
    expect(seconds('reply.wav')).toBeGreaterThan(0.5);
  });

  test('the session goes on if the sound server comes back in time', async (context) => {
    const { server, start } = await setUpOwn(context);
    const running = start([
      ...['stream', '--mic', ...(await echo(context)), '--audio-backend', 'pulse', '--json'],
      ...['--sound-timeout', '30s'],
    ]);
    await running.line(/"direction":"in"/);
    server.kill();
    await running.line(/"code":"device-lost".*microphone/);
    await server.start();
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

  withNaudiodon(
    'nothing that naudiodon prints reaches the terminal or the audio of --out -',
    async (context) => {
      const { startAhead } = await setUpAwake(context);
      const running = startAhead([
        ...['stream', '--mic', ...(await echo(context)), '--audio-backend', 'naudiodon'],
        ...['--duration', '1500ms', '--out', '-', '--json'],
      ]);
      const { code, stdoutBytes, stderr } = await running.ended;
      expect(code).toBe(0);
      // Every line is a voicectl event, and every byte is AI audio.
      const events = jsonLines(stderr);
      expect(events.every(({ t, type }) => typeof t === 'number' && typeof type === 'string')).toBe(true);
      expect(stdoutBytes.length).toBe(summaryOf(stderr).in.bytes);
      expect(stdoutBytes.every((byte) => byte === 0)).toBe(true);
    },
  );

  test('a microphone with digital silence, and the risk of feedback, are reported with what to do', async (context) => {
    const { start } = await setUpAwake(context);
    const { code, stdout } = await start([
      ...['stream', '--mic', ...(await silent(context)), '--duration', '5s', '--json'],
    ]).ended;
    expect(code).toBe(0);
    const warnings = jsonLines(stdout).filter(({ type }) => type === 'warning');
    expect(warnings).toEqual([
      expect.objectContaining({ code: 'headphones', message: expect.stringMatching(/^Use headphones/) }),
      expect.objectContaining({ code: 'microphone-silent', hint: expect.stringMatching(/muted/) }),
    ]);
    expect(summaryOf(stdout)).toMatchObject({ ok: true, underruns: expect.any(Number) });
  });

  test('devices lists inputs and outputs, the defaults marked', async (context) => {
    const { server } = await setUpAwake(context);
    const list = (...flags: string[]) =>
      runInProcess(['audio', '--audio-backend', 'pulse', ...flags], { env: server.env });
    const { code, stdout } = await list();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\* +\d+ {2}.*\[mic\]$/m);
    expect(stdout).toMatch(/^\* +\d+ {2}.*\[spk\]$/m);
    const listed = JSON.parse((await list('--json')).stdout);
    expect(listed).toMatchObject({
      version: expect.any(String),
      backend: 'pulse',
      outputs: [
        { index: 0, id: 'spk', isDefault: true },
        { index: 1, id: 'micsrc', isDefault: false },
      ],
    });
  });

  test('a sound device is chosen by its number or by part of its name', async (context) => {
    const { server } = await setUpAwake(context);
    const stream = (...flags: string[]) =>
      runInProcess(['stream', '--mic', '--audio-backend', 'pulse', ...flags], { env: server.env });
    const { stdout } = await stream(
      ...['--no-play', '--input-device', 'micsrc.mon', ...(await silent(context))],
      ...['--duration', '500ms', '--json'],
    );
    expect(summaryOf(stdout)).toMatchObject({ ok: true, underruns: null });
    const unknown = await stream('--local', '--input-device', 'gramophone');
    expect(unknown).toMatchObject({
      code: 8,
      stderr: expect.stringMatching(/There is no sound device "gramophone"/),
    });
  });
});

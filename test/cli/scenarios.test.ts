import { describe, expect, test } from 'vitest';
import { createEmulator } from '../../src/emulator/emulator.ts';
import { runInProcess } from '../helpers/in-process.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { fixture, jsonLines, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();

// biome-ignore lint/suspicious/noExplicitAny: events of every type, as a foreign reader would take them
type Told = any;

/** The included scenario by its name, and a device that plays the file to it: both in this process, on a moved clock. */
async function perform(scenario: string, file = 'two-turns.wav') {
  const clock = createManualClock(Date.now());
  const emulator = await createEmulator({ scenario, seed: 1, clock });
  sandbox.defer(emulator.close);
  const at = ['--base-url', emulator.baseUrl, '--device', 'd1'];
  const run = (args: readonly string[]) => runInProcess(args, { clock });
  const stream = async (...more: string[]) => {
    const ended = await run(['stream', ...at, '--file', fixture(file), '--json', ...more]);
    const events = jsonLines(ended.stdout) as Told[];
    return { code: ended.code, events, summary: events.find(({ type }: Told) => type === 'summary') as Told };
  };
  const journal = async (type: string): Promise<Told[]> =>
    jsonLines((await run(['emulator', 'journal', '--type', type, '--json', ...at.slice(0, 2)])).stdout);
  const struck = async () => (await journal('fault-struck')).map(({ fault }) => fault);
  return { stream, struck, journal, at, run };
}

describe('the included scenario', () => {
  test('happy-path greets, replies to each of two turns, and the session ends well', async () => {
    const { stream, journal } = await perform('happy-path');
    const { code, summary } = await stream();
    expect(code).toBe(0);
    expect(summary.close.code).toBe(1000);
    expect(await journal('reply-started')).toHaveLength(3);
  });

  test('slow-service is late with everything', async () => {
    const { stream, struck } = await perform('slow-service', 'barge-in.wav');
    const { code, summary } = await stream('--wait', '20s');
    expect(code).toBe(0);
    expect(summary.tokenMs).toBeGreaterThanOrEqual(2_000);
    expect(summary.connectMs).toBeGreaterThanOrEqual(1_000);
    expect(summary.authoriseMs).toBeGreaterThanOrEqual(1_000);
    expect(summary.firstAudioMs).toBeGreaterThanOrEqual(4_000);
    expect(await struck()).toEqual(
      expect.arrayContaining(['token-slow', 'upgrade-slow', 'connected-late', 'drip']),
    );
  });

  test('flaky-network breaks the first connection, but not the second', async () => {
    const { stream, struck } = await perform('flaky-network');
    const first = await stream();
    expect(first.code).toBe(6);
    expect(first.summary.close.code).toBe(1006);
    expect((await stream()).code).toBe(0);
    expect(await struck()).toEqual(expect.arrayContaining(['abnormal-close', 'stall']));
  });

  test('barge-in stops its long reply when the user speaks again', async () => {
    const { stream } = await perform('barge-in');
    const { code, summary } = await stream();
    expect(code).toBe(0);
    expect(summary.events.interrupted).toBe(1);
    expect(summary.in.audioMs).toBeLessThan(10_000);
  });

  test('quota-exhausted rate-limits twice, ends the conversation, and refuses the next token', async () => {
    const { stream, at, run } = await perform('quota-exhausted');
    const { summary, events, code } = await stream();
    expect(events.filter(({ type }) => type === 'retry')).toHaveLength(2);
    expect(summary.close).toMatchObject({ code: 4429, reason: 'quota exceeded' });
    expect([5, 6]).toContain(code);
    const token = await run(['token', ...at]);
    expect(token).toMatchObject({ code: 3, stderr: expect.stringContaining('QUOTA_EXCEEDED') });
  });

  test('service-restart closes in the middle of a reply, and accepts the device again after two refusals', async () => {
    const { stream } = await perform('service-restart', 'barge-in.wav');
    const first = await stream();
    expect(first.summary.close.code).toBe(1012);
    expect((await stream('--retries', '0')).code).not.toBe(0);
    expect((await stream('--retries', '0')).code).toBe(4);
    expect((await stream('--retries', '0')).summary.close.code).toBe(1012);
  });
});

test('serve refuses a wrong scenario with file, line and column, before it listens', async () => {
  const file = sandbox.write(
    'wrong.yaml',
    'steps:\n  - when: connected\n    do:\n      - say: { tone: 3 }\n',
  );
  expect(await sandbox.runHere(['serve', '--port', '0', '--scenario', file])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(
      /wrong\.yaml:4:22: steps\.0\.do\.0\.say\.tone: 3, expected number to be >=20/,
    ),
  });
});

test('a name that is neither a file nor included is refused with the names that are', async () => {
  expect(await sandbox.runHere(['serve', '--scenario', 'nothing'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('barge-in, flaky-network, happy-path'),
  });
});

test('emulator event reaches the scenario', async () => {
  const file = sandbox.write(
    'door.yaml',
    'steps:\n  - when: { event: door }\n    do: [{ send: { type: door_opened } }]\n',
  );
  const serve = await sandbox.serveHere(['--scenario', file]);
  const at = ['--base-url', serve.baseUrl];
  const device = sandbox.start(['stream', ...at, '--file', fixture('silence.wav'), '--loop', '--json']);
  await device.line(/service_voice_connected/);
  expect((await sandbox.runHere(['emulator', 'event', 'door', ...at])).stdout).toBe('Reached stream 1\n');
  await device.line(/door_opened/);
});

import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createEmulator, type Emulator } from '../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import type { Reply, Voice } from '../../src/emulator/replies/reply.ts';
import { loadScenario } from '../../src/emulator/scenario/scenario.ts';
import { openSession } from '../../src/session/open-session.ts';

const started: Emulator[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((emulator) => emulator.close()));
});

async function start(options: EmulatorOptions): Promise<Emulator> {
  const emulator = await createEmulator(options);
  started.push(emulator);
  return emulator;
}

/** The first message after the confirmation that a device hears. */
async function firstMessage({ baseUrl }: Emulator): Promise<unknown> {
  const session = await openSession({ baseUrl, device: 'd1', apiKey: 'any' });
  for await (const event of session) {
    if (event.type === 'message' && !['connected', 'status'].includes(event.category)) return event.body;
  }
  return undefined;
}

describe('a wrong option is named', () => {
  test.each<[string, object, string]>([
    ['that does not exist', { replyy: 'echo' }, 'unknown option replyy'],
    ['of metrics that does not exist', { metrics: { alow: [] } }, 'unknown option metrics.alow'],
    ['of metrics of another type', { metrics: { devices: 'all' } }, 'metrics.devices is "all", expected'],
    ['that does not exist, beside another one', { a: 1, b: 2 }, 'unknown option a; unknown option b'],
    ['of the wrong type', { rateLimit: '3' }, 'rateLimit is "3", expected number'],
    ['out of range', { port: 99_999 }, 'port is 99999, expected number to be <=65535'],
    ['that pings without end', { pingEveryMs: 0 }, 'pingEveryMs is 0, expected number to be >=1'],
    ['that is no reply', { reply: 7 }, 'reply is 7'],
    ['that is for a proxy', { faults: ['drop:direction=service'] }, 'only a proxy has that side'],
    ['that is no clock', { clock: {} }, 'clock.now is missing, expected a function'],
    ['inside a list', { faults: ['stall', 3] }, 'faults.1 is 3'],
    ['each of several', { seed: 'x', maxConnections: -1 }, 'seed is "x"'],
  ])('%s', async (_name, options, message) => {
    await expect(createEmulator(options)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(message),
    });
  });

  test('and its value is hidden if it may be a secret', async () => {
    const options = {
      acceptKeys: 'canary-key',
      controlSecret: 5,
      tls: 'canary',
    } as unknown as EmulatorOptions;
    const error = await createEmulator(options).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ code: 'usage' });
    expect(JSON.stringify([error, (error as Error).message])).not.toContain('canary');
  });

  test('and so is a clock that would be moved back', async () => {
    const { control } = await start({});
    expect(() => control.advance(-5)).toThrow('advanceMs is -5, expected number to be >=0');
    expect(() => control.advance(Number.NaN)).toThrow('advanceMs is NaN, expected number');
  });
});

describe('reply', () => {
  const greet = (voice: Voice): Reply => {
    voice.message({ type: 'greeting', to: voice.device });
    return { hear() {} };
  };
  const greeting = { type: 'greeting', to: 'd1' };

  test('may be a function that makes the reply of each stream', async () => {
    expect(await firstMessage(await start({ reply: greet }))).toEqual(greeting);
  });

  test('may be a module that exports it', async () => {
    expect(await firstMessage(await start({ reply: { createReply: greet } }))).toEqual(greeting);
  });

  test('of a program that throws is reported on its stream, and the stream continues', async () => {
    const emulator = await start({
      reply: () => {
        throw new Error('out of ideas');
      },
    });
    expect(await firstMessage(emulator)).toMatchObject({ type: 'error', error: { code: 'REPLY_FAILED' } });
    expect(emulator.control.state().streams).toHaveLength(1);
  });
});

describe('scenario', () => {
  const steps = [{ when: 'connected' as const, do: [{ error: { code: 'HI', message: '' } }] }];
  const said = { type: 'error', error: { code: 'HI', message: '' } };

  test('may be its content', async () => {
    expect(await firstMessage(await start({ scenario: { steps } }))).toEqual(said);
  });

  test('may be a loaded one', async () => {
    expect(await firstMessage(await start({ scenario: await loadScenario({ steps }) }))).toEqual(said);
  });

  test('may be the path of a file, which is refused with line and column', async () => {
    const folder = join(import.meta.dirname, '..', '..', 'examples', 'scenarios');
    await start({ scenario: join(folder, 'happy-path.yaml') });
    await expect(createEmulator({ scenario: import.meta.filename })).rejects.toMatchObject({
      code: 'bad-input',
    });
  });
});

import { describe, expect, test } from 'vitest';
import { openSession } from '../src/session/open-session.ts';
import { type Emulator, setUpEmulator } from '../src/testing.ts';
import { setUpEmulator as setUpEmulatorInVitest } from '../src/vitest.ts';

/** The hooks of a runner that the test simulates. */
function playRunner() {
  const calls: Record<string, () => Promise<void>> = {};
  const hook = (name: string) => (call: () => Promise<void>) => {
    calls[name] = call;
  };
  return {
    jestLike: {
      ...{ beforeAll: hook('before'), afterAll: hook('after') },
      ...{ beforeEach: hook('beforeEach'), afterEach: hook('afterEach') },
    },
    mochaLike: { before: hook('before'), afterEach: hook('afterEach'), after: hook('after') },
    run: (name: 'before' | 'beforeEach' | 'afterEach' | 'after') => calls[name]!(),
  };
}

const session = ({ baseUrl }: Emulator, device = 'd1') => openSession({ baseUrl, device, apiKey: 'any' });

describe.each(['jestLike', 'mochaLike'] as const)('an emulator for tests, with %s hooks', (kind) => {
  test('runs from before the first test until after the last', async () => {
    const runner = playRunner();
    const emulator = setUpEmulator({ reply: 'echo' }, runner[kind]);
    expect(() => emulator.baseUrl).toThrow('The emulator has no baseUrl yet');
    await runner.run('before');
    const { baseUrl } = emulator;
    expect((await fetch(baseUrl)).status).toBe(200);
    await runner.run('afterEach');
    expect(emulator.baseUrl).toBe(baseUrl);
    await runner.run('after');
    await expect(fetch(baseUrl)).rejects.toThrow();
    expect(() => emulator.baseUrl).toThrow();
  });

  test('begins each test without the streams, windows and events of the previous one', async () => {
    const runner = playRunner();
    const emulator = setUpEmulator({ rateLimit: 1 }, runner[kind]);
    await runner.run('before');
    const left = await session(emulator);
    const closing = await session(emulator, 'd2');
    void closing.close();
    await runner.run('afterEach');
    expect(await left.closed).toMatchObject({ code: 1012 });
    expect(emulator.control.state()).toMatchObject({ devices: [], streams: [], tokens: [] });
    expect(emulator.control.journal.read({}, 100)).toEqual([]);
    await (await session(emulator)).close();
    await runner.run('after');
  });
});

test('is reset when none of the tests that run concurrently is left', async () => {
  const runner = playRunner();
  const emulator = setUpEmulator({}, runner.jestLike);
  await runner.run('before');
  await Promise.all([runner.run('beforeEach'), runner.run('beforeEach')]);
  const long = await session(emulator, 'long');
  await runner.run('afterEach');
  expect(emulator.control.state().streams).toMatchObject([{ device: 'long' }]);
  const ended = runner.run('afterEach');
  await runner.run('beforeEach');
  expect(emulator.control.journal.read({}, 100)).toEqual([]);
  expect(await long.closed).toMatchObject({ code: 1012 });
  await ended;
  await runner.run('after');
});

test('a failure to start fails the hook, and the hooks after it fail for no other reason', async () => {
  const runner = playRunner();
  setUpEmulator({ reply: 'nonsense' }, runner.jestLike);
  await expect(runner.run('before')).rejects.toMatchObject({ code: 'usage' });
  await runner.run('afterEach');
  await runner.run('after');
});

test('without hooks, and without a runner that has global ones, it says what to do', () => {
  expect(() => setUpEmulator()).toThrow(
    expect.objectContaining({ hint: expect.stringContaining('voicectl/vitest') }),
  );
});

describe('in Vitest', () => {
  const emulator = setUpEmulatorInVitest({ reply: 'silence' });
  let before = '';

  test('one line is enough', async () => {
    before = emulator.baseUrl;
    await session(emulator);
    expect(await emulator.waitFor('stream-authorised')).toMatchObject({ device: 'd1' });
  });

  test('the next test finds it at the same address, with nothing in it', () => {
    expect(emulator.baseUrl).toBe(before);
    expect(emulator.control.state().streams).toEqual([]);
  });

  describe.concurrent('tests that run concurrently', () => {
    let isOver = () => {};
    const over = new Promise<void>((resolve) => {
      isOver = resolve;
    });

    test('leave the streams of the others open', async ({ expect, onTestFinished }) => {
      onTestFinished(isOver);
      await (await session(emulator, 'short')).close();
      expect(emulator.control.state().devices).toContainEqual(expect.objectContaining({ device: 'short' }));
    });

    test('have a stream as long as they need it', async ({ expect }) => {
      await session(emulator, 'long');
      await over;
      expect(emulator.control.state().streams).toMatchObject([{ device: 'long' }]);
    });
  });
});

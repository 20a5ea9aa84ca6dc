import { createEmulator, type Emulator } from './emulator/emulator.ts';
import type { EmulatorOptions } from './emulator/options.ts';
import { VoicectlError } from './kernel/errors.ts';

export { measureLikeness } from './audio/likeness.ts';
export {
  type DurationOptions,
  type LevelBounds,
  type LikenessOptions,
  type Matched,
  type Sound,
  type VoiceMatchers,
  voiceMatchers,
} from './audio/matchers.ts';
export type { Emulator, EmulatorOptions };

type Hook = (call: () => Promise<void>) => unknown;

/**
 * The hooks of a test runner: of Jest, Vitest and Bun, or as Mocha and `node:test` call them. Only tests that run
 * concurrently need `beforeEach`.
 */
export type TestHooks = { beforeEach?: Hook; afterEach: Hook } & (
  | { beforeAll: Hook; afterAll: Hook }
  | { before: Hook; after: Hook }
);

/**
 * Runs an emulator for the tests of a file, or of the `describe` that it is called in. After each test its streams
 * are closed, and windows and journal cleared, unless others still run concurrently; its address and a clock that was
 * moved stay as they are. The hooks are the globals of the runner unless they are given. Until the first test starts,
 * the result may be passed on, but has no properties.
 */
export function setUpEmulator(
  options: EmulatorOptions = {},
  hooks: TestHooks = globalThis as unknown as TestHooks,
): Emulator {
  const { before, beforeEach, afterEach, after } = namedAlike(hooks);
  let running: Emulator | undefined;
  let live = new Set<number>();
  let tests = 0;
  let resetting = Promise.resolve();
  const reset = async ({ control, waitFor }: Emulator) => {
    control.reset();
    // The last events of these streams belong to the test that is over.
    await Promise.all(
      [...live].map((stream) => waitFor('stream-closed', (event) => event.stream === stream)),
    );
    control.journal.clear();
  };
  before(async () => {
    live = new Set();
    running = await createEmulator(options);
    running.on('stream-opened', ({ stream }) => live.add(stream));
    running.on('stream-closed', ({ stream }) => live.delete(stream));
  });
  beforeEach?.(async () => {
    tests += 1;
    await resetting;
  });
  afterEach(async () => {
    tests = Math.max(0, tests - 1);
    if (running === undefined || tests > 0) return;
    resetting = reset(running);
    await resetting;
  });
  after(async () => {
    await running?.close();
    running = undefined;
  });
  return new Proxy({} as Emulator, {
    get(_target, name) {
      if (running !== undefined) return Reflect.get(running, name);
      throw new VoicectlError(
        'usage',
        `The emulator has no ${String(name)} yet: it starts before the first test`,
      );
    },
  });
}

function namedAlike(hooks: TestHooks): Extract<TestHooks, { before: Hook }> {
  if ('beforeAll' in hooks) return { ...hooks, before: hooks.beforeAll, after: hooks.afterAll };
  if ('before' in hooks) return hooks;
  throw new VoicectlError(
    'usage',
    'There are no global test hooks here: pass those of your test runner to setUpEmulator',
    {
      hint: 'With Vitest, use voicectl/vitest; otherwise pass { beforeAll, beforeEach, afterEach, afterAll }.',
    },
  );
}

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ContextOf } from '../../../src/commands/command.ts';
import { createServeScreen } from '../../../src/commands/serve/screen.ts';
import type { ServeContext } from '../../../src/commands/serve/view.ts';
import { createStreamScreen } from '../../../src/commands/stream/screen.ts';
import {
  type CommandScreenOptions,
  openCommandScreen,
} from '../../../src/commands/terminal/command-screen.ts';
import { openRunScreen } from '../../../src/commands/terminal/run-screen.ts';
import { createEmulator } from '../../../src/emulator/emulator.ts';
import { createStyle } from '../../../src/report/style.ts';
import type { EmulatorEvent } from '../../../src/service/events.ts';
import { startDrawThread } from '../../../src/ui/draw-thread.ts';
import type { Action } from '../../../src/ui/port.ts';
import { createFakeTerminal } from '../../helpers/fake-terminal.ts';

/** What a command gets, and what it has written. */
function createContext(settings: object = {}) {
  const terminal = createFakeTerminal();
  const written = { stdout: '', stderr: '' };
  const exits: number[] = [];
  const writer = (name: 'stdout' | 'stderr') => ({
    isTTY: true,
    write: async (text: string) => {
      written[name] += text;
    },
  });
  const stdout = writer('stdout');
  const context = {
    settings: { reply: 'echo', ascii: true, ...settings },
    io: {
      ...{ env: {}, cwd: '/', stdout, stderr: writer('stderr'), terminal: terminal.device },
      exit: (code: number) => void exits.push(code),
    },
    lines: stdout,
    style: createStyle(false),
    signal: new AbortController().signal,
    colour: false,
    note: async (text: string) => {
      written.stderr += `${text}\n`;
    },
    warn: async () => {},
  };
  return { context, terminal, written, exits };
}

/** A drawing thread that answers the n-th frame with the n-th of these lists of actions. */
function workerThatAsksFor(...actions: (readonly Action[])[]): URL {
  const dir = mkdtempSync(join(tmpdir(), 'voicectl-worker-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'worker.mjs');
  const code = `import { parentPort } from 'node:worker_threads';
    const all = ${JSON.stringify(actions)};
    parentPort.on('message', () => parentPort.postMessage({ patch: 'drawn', actions: all.shift() ?? [], tookMs: 1 }));`;
  writeFileSync(file, code);
  return pathToFileURL(file);
}

function openOwn(
  actions: (readonly Action[])[],
  options: Partial<CommandScreenOptions<{ type: 'news' }>> = {},
  cwd = '/',
) {
  const { context, ...rest } = createContext();
  context.io.cwd = cwd;
  const drawThread = startDrawThread({ colour: false, file: workerThatAsksFor(...actions) });
  const screen = openCommandScreen<{ type: 'news' }>({ ...context, drawThread } as unknown as ServeContext, {
    device: rest.terminal.device,
    start: { screen: 'check', subject: 'x', can: ['copy'] },
    fold: () => undefined,
    ...options,
  });
  onTestFinished(screen.close);
  return { screen, ...rest };
}

describe('the screen of a command', () => {
  test('is ended in order by the first q, at once by the second', async () => {
    const { screen, exits, terminal } = openOwn([[{ type: 'quit' }], [{ type: 'quit' }]]);
    const exitsAtFirst = await new Promise((resolve) =>
      screen.signal.addEventListener('abort', () => resolve([...exits])),
    );
    expect(screen.signal.reason).toMatchObject({ code: 'interrupted' });
    expect(exitsAtFirst).toEqual([]);
    terminal.handlers.onInput('q');
    await expect.poll(() => exits).toEqual([130]);
  });

  test('shows why an action failed', async () => {
    const lines: string[] = [];
    const { screen } = openOwn([[{ type: 'advance', ms: 1 }]], {
      onAction: async () => {
        lines.push('asked');
        throw new Error('no clock');
      },
    });
    await expect.poll(() => lines).toEqual(['asked']);
    expect(screen.isLost).toBe(false);
  });

  test('saves the events in a new file that only its owner can read', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'voicectl-saved-'));
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
    openOwn([[{ type: 'save', text: '{"type":"token-issued"}\n' }]], {}, cwd);
    const saved = () => readdirSync(cwd).filter((name) => /^voicectl-.*\.jsonl$/.test(name));
    await expect.poll(saved).toHaveLength(1);
    const file = join(cwd, saved()[0] ?? '');
    await expect.poll(() => readFileSync(file, 'utf8')).toBe('{"type":"token-issued"}\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('ends the command when the terminal is gone', async () => {
    const { screen, terminal } = openOwn([]);
    await expect.poll(() => terminal.state.raw).toBe(true);
    terminal.handlers.onGone(new Error('EIO'));
    expect(screen.signal.reason).toMatchObject({
      code: 'input-output',
      message: 'The terminal is gone: EIO',
    });
  });
});

/** Each command with a screen, by the signal that ends its work early. */
const commands = {
  serve() {
    const { context, terminal, written } = createContext();
    const view = createServeScreen(context as unknown as ServeContext, {
      device: terminal.device,
      key: { open: 'any-key' },
    });
    onTestFinished(() => view.close());
    let end = 'runs';
    view.ended.then(
      () => {
        end = 'ended';
      },
      () => {
        end = 'failed';
      },
    );
    return { terminal, written, view, state: () => end };
  },
  stream() {
    const { context, terminal, written } = createContext();
    const view = createStreamScreen(context as unknown as ContextOf<'stream'>, {
      ...{ device: terminal.device, sourceName: 'hello.wav', canReconnect: false, canMute: false },
    });
    onTestFinished(() => view.close());
    return { terminal, written, view, state: () => 'runs' };
  },
  check() {
    const { context, terminal, written } = createContext();
    const screen = openRunScreen<{ type: 'news' }>(context as unknown as ServeContext, {
      ...{ device: terminal.device, screen: 'check', subject: 'x' },
    });
    onTestFinished(() => screen.close());
    return { terminal, written, state: () => (screen.signal.aborted ? 'failed' : 'runs') };
  },
};

describe.each(['serve', 'stream', 'check'] as const)('%s', (name) => {
  test('continues in plain lines if the terminal has no keys to read', async () => {
    const { terminal, written, state } = commands[name]();
    // Before the first frame: `script --command … </dev/null`.
    terminal.handlers.onGone(new Error('it was closed'));
    await expect.poll(() => written.stderr).toMatch(/^voicectl: no keys can be read from the terminal .*\n$/);
    expect(state()).toBe('runs');
    expect(terminal.state.written).toBe('');
  });
});

test('serve prints its addresses and later events as plain lines if its screen fails', async () => {
  const { view, written } = commands.serve();
  const events: EmulatorEvent[] = [];
  const emulator = await createEmulator({ onEvent: (event) => void events.push(event) });
  onTestFinished(() => emulator.close());
  view.attach(emulator, {});
  for (const event of events) view.show(event);
  // In the tests there is no file that draws beside the source.
  await expect.poll(() => written.stderr).toContain('the screen failed');
  await expect.poll(() => written.stdout).toContain(emulator.baseUrl);
  await view.note('for people');
  expect(written.stderr).toContain('for people\n');
});

test('stream prints as plain lines what was on its screen before the screen failed', async () => {
  const { view, written } = commands.stream();
  await view.run(async function* () {
    yield { t: 0, type: 'warning', code: 'late', message: 'before' };
    await expect.poll(() => written.stderr).toContain('the screen failed');
    yield { t: 1, type: 'warning', code: 'late', message: 'after' };
  });
  await view.close();
  expect(written.stdout).toMatch(/before.*\n.*after/);
});

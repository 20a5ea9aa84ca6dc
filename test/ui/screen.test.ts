import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import type { SessionEvent } from '../../src/session/events.ts';
import { type DrawThread, startDrawThread } from '../../src/ui/draw-thread.ts';
import { foldSessionEvents } from '../../src/ui/pending-events.ts';
import type { Action } from '../../src/ui/port.ts';
import { openScreen, type ScreenEnd } from '../../src/ui/screen.ts';
import { createFakeTerminal } from '../helpers/fake-terminal.ts';
import { conversation, streamStart } from './screens.ts';

const built = pathToFileURL(join(import.meta.dirname, '..', '..', 'dist', 'draw-worker.js'));

const deferred: (() => unknown)[] = [];
afterEach(async () => {
  for (const call of deferred.splice(0)) await call();
});

const open = (file = built) => openWith(startDrawThread({ colour: false, file }));

function openWith(thread: DrawThread) {
  const terminal = createFakeTerminal();
  const actions: Action[] = [];
  const ends: ScreenEnd[] = [];
  const screen = openScreen<SessionEvent>({
    device: terminal.device,
    clock: systemClock,
    thread,
    start: streamStart,
    fold: foldSessionEvents,
    onAction: (action) => actions.push(action),
    onEnd: (end) => ends.push(end),
  });
  deferred.push(screen.close);
  return { terminal, actions, ends, screen };
}

/** A thread that draws in another way than ours. */
function otherWorker(code: string): URL {
  const dir = mkdtempSync(join(tmpdir(), 'voicectl-worker-'));
  deferred.push(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'worker.mjs');
  writeFileSync(file, `import { parentPort } from 'node:worker_threads';\n${code}`);
  return pathToFileURL(file);
}
const frame = `parentPort.postMessage({ patch: 'drawn', actions: [], tookMs: 1 })`;

describe('a screen', () => {
  test('takes over the terminal with its first frame, shows what happens, and restores the terminal', async () => {
    const { terminal, screen } = open();
    expect(terminal.state).toMatchObject({ raw: false, written: '' });
    for (const event of conversation()) screen.show(event);
    await expect.poll(() => terminal.state.written).toContain('QUOTA');
    expect(terminal.state.raw).toBe(true);
    expect(terminal.isRestored).toBe(false);
    await screen.close();
    expect(terminal.isRestored).toBe(true);
    expect(terminal.isHeard).toBe(false);
  });

  test('that is closed before its first frame does not touch the terminal', async () => {
    const { terminal, screen } = open();
    await screen.close();
    expect(terminal.state.written).toBe('');
  });

  test('has keys that do what they say', async () => {
    const { terminal, actions, screen } = open();
    expect(screen.isTouched).toBe(false);
    terminal.handlers.onInput('r');
    await expect.poll(() => actions).toEqual([{ type: 'reconnect' }]);
    expect(screen.isTouched).toBe(true);
  });

  test('handles Ctrl-C and Ctrl-Z itself, and redraws everything afterwards', async () => {
    const { terminal, screen } = open();
    await expect.poll(() => terminal.state.raw).toBe(true);
    terminal.handlers.onInput('\u0003');
    expect(terminal.state.signals).toEqual(['SIGINT']);
    terminal.state.written = '';
    terminal.handlers.onInput('\u001a');
    expect(terminal.state.signals).toEqual(['SIGINT', 'SIGTSTP to the job']);
    expect(terminal.state.written).toContain('\u001b[?1049l');
    expect(terminal.state.written).toContain('\u001b[?2004l');
    await expect.poll(() => terminal.state.written).toMatch(/\[\?1049h.*\[\?2004h.*voicectl stream/s);
    expect(screen.isTouched).toBe(false);
  });

  test('restores the terminal when the process ends in any other way', async () => {
    const { terminal } = open();
    await expect.poll(() => terminal.state.raw).toBe(true);
    terminal.handlers.onExit();
    expect(terminal.isRestored).toBe(true);
  });

  test('reports that the terminal is gone', async () => {
    const { terminal, ends } = open();
    await expect.poll(() => terminal.state.raw).toBe(true);
    terminal.state.failing = true;
    terminal.handlers.onInput('?');
    await expect.poll(() => ends).toEqual([{ cause: 'terminal', error: expect.any(Error) }]);
  });

  test.each([
    ['cannot be loaded', `throw new Error('broken')`],
    ['fails', `parentPort.on('message', () => { throw new Error('broken') })`],
    ['ends', `parentPort.on('message', () => process.exit(3))`],
    [
      'fails later',
      `let count = 0; parentPort.on('message', () => { if (count++ > 1) throw new Error('broken'); ${frame} })`,
    ],
  ])('whose thread %s gives the terminal back, and says so once', async (_how, code) => {
    const { terminal, ends, screen } = open(otherWorker(code));
    await expect.poll(() => ends).toHaveLength(1);
    expect(ends[0]?.cause).toBe('drawing');
    expect(terminal.state.written === '' || terminal.isRestored).toBe(true);
    screen.show({ t: 0, type: 'state', state: 'live' });
    await screen.close();
    expect(ends).toHaveLength(1);
  });

  test('whose thread failed before it opened reports that too', async () => {
    const thread = startDrawThread({ colour: false, file: otherWorker(`throw new Error('broken')`) });
    expect(await thread.ended).toMatchObject({ message: 'broken' });
    const { terminal, ends } = openWith(thread);
    await expect.poll(() => ends).toEqual([{ cause: 'drawing', error: await thread.ended }]);
    expect(terminal.state.written).toBe('');
  });

  test('whose thread hangs still handles Ctrl-C, and closes', async () => {
    const { terminal, screen } = open(
      otherWorker(`${frame}; parentPort.once('message', () => { for (;;); })`),
    );
    terminal.handlers.onInput('\u0003');
    expect(terminal.state.signals).toEqual(['SIGINT']);
    await screen.close();
    expect(terminal.state.written === '' || terminal.isRestored).toBe(true);
  });
});

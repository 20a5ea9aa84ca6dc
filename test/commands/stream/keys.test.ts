import { expect, test } from 'vitest';
import { listenForKeys } from '../../../src/commands/stream/live-ends.ts';
import type { KeyboardHandlers } from '../../../src/kernel/keyboard.ts';

function startListening() {
  const calls: string[] = [];
  let handlers: KeyboardHandlers | undefined;
  const keyboard = {
    setRaw: (raw: boolean) => void calls.push(raw ? 'raw' : 'lines'),
    listen(given: KeyboardHandlers) {
      handlers = given;
      return () => void calls.push('stop');
    },
    raise: (signal: string) => void calls.push(signal),
    suspend: ({ group }: { group: boolean }) => void calls.push(group ? 'suspend the job' : 'suspend'),
  };
  const microphone = {
    muted: false,
    mute(on: boolean) {
      microphone.muted = on;
    },
  };
  const told: boolean[] = [];
  const release = listenForKeys(keyboard, { microphone, onMute: (muted) => told.push(muted) });
  return { calls, handlers: handlers as KeyboardHandlers, microphone, told, release };
}

test('m mutes the microphone, and unmutes it again', () => {
  const { handlers, microphone, told } = startListening();
  handlers.onInput('m');
  expect(microphone.muted).toBe(true);
  handlers.onInput('xm');
  expect(microphone.muted).toBe(false);
  handlers.onInput('mm');
  expect(told).toEqual([true, false, true, false]);
});

test.each([
  ['Ctrl-C', '\u0003', ['SIGINT']],
  ['Ctrl-\\', '\u001c', ['SIGQUIT']],
  ['Ctrl-Z', '\u001a', ['lines', 'suspend the job', 'raw']],
])('%s has the same effect as in a terminal that reads lines', (_name, key, expected) => {
  const { calls, handlers } = startListening();
  handlers.onInput(key);
  expect(calls).toEqual(['raw', ...expected]);
});

test('a request to suspend stops the process with the terminal as it was', () => {
  const { calls, handlers } = startListening();
  handlers.onSuspend();
  expect(calls).toEqual(['raw', 'lines', 'suspend', 'raw']);
});

test('the terminal is restored when the session ends, and when the process ends', () => {
  const { calls, handlers, release } = startListening();
  handlers.onExit();
  expect(calls).toEqual(['raw', 'lines']);
  release();
  expect(calls).toEqual(['raw', 'lines', 'stop', 'lines']);
});

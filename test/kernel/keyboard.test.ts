import { PassThrough } from 'node:stream';
import type { ReadStream } from 'node:tty';
import { expect, test } from 'vitest';
import { createKeyboard } from '../../src/kernel/keyboard.ts';

test('a character that is cut between two reads of the terminal is one key', () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const keys: string[] = [];
  const stop = createKeyboard(stdin as unknown as ReadStream)?.listen({
    onInput: (text) => keys.push(text),
    onGone() {},
    onSuspend() {},
    onExit() {},
  });
  const bytes = Buffer.from('aé🎤');
  for (let at = 0; at < bytes.length; at += 1) stdin.emit('data', bytes.subarray(at, at + 1));
  stop?.();
  expect(keys.join('')).toBe('aé🎤');
});

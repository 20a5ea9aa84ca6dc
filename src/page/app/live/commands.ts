import { shellWord } from '../../../kernel/shell-text.ts';
import type { StreamSelector } from '../../../protocol/control.ts';
import { hello } from './store.ts';

/** The command line that does the same as a button. */
export function commandLine(words: readonly string[], target: StreamSelector = {}): string {
  const { stream, device } = target;
  const reach = [
    ...(stream === undefined ? [] : ['--on-stream', String(stream)]),
    ...(device === undefined ? [] : ['--on-device', device]),
    ...(hello.value?.baseUrl === undefined ? [] : ['--base-url', hello.value.baseUrl]),
  ];
  return ['voicectl', 'emulator', ...words, ...reach].map(shellWord).join(' ');
}

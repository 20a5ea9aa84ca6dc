import type { Io } from '../../kernel/io.ts';

/** Whether the terminal shows Unicode: by the locale, as the C library reads it; on Windows always. */
export function speaksUnicode({ LC_ALL, LC_CTYPE, LANG }: Io['env']): boolean {
  return process.platform === 'win32' || /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '');
}

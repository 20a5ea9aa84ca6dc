import type { Io } from '../../kernel/io.ts';

/** Whether the terminal shows more than ASCII: as the C library reads the locale; Windows shows Unicode whatever is set. */
export function speaksUnicode({ LC_ALL, LC_CTYPE, LANG }: Io['env']): boolean {
  return process.platform === 'win32' || /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '');
}

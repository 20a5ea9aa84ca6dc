import { styleText } from 'node:util';

/** Colours text by its meaning; without colour it returns the text unchanged. */
export interface Style {
  strong(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  note(text: string): string;
}

export function createStyle(colour: boolean): Style {
  const with_ = (format: Parameters<typeof styleText>[0]) => (text: string) =>
    colour ? styleText(format, text, { validateStream: false } as never) : text;
  return {
    strong: with_('bold'),
    dim: with_('dim'),
    good: with_('green'),
    bad: with_('red'),
    note: with_('yellow'),
  };
}

/** Without colours: for text that is escaped as a whole, or kept. */
export const plainStyle = createStyle(false);

/** Whether the terminal shows Unicode: according to the locale, as the C library reads it; on Windows always. */
export function speaksUnicode({
  LC_ALL,
  LC_CTYPE,
  LANG,
}: Readonly<Record<string, string | undefined>>): boolean {
  return process.platform === 'win32' || /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '');
}

/** Clears the line of a terminal. */
export const clearLine = '\r\u001b[K';

import { escapeText } from '../kernel/escape.ts';

/** Markup, with all text in it escaped. */
export interface Html {
  readonly html: string;
}

type Part = Html | string | number | undefined | readonly Part[];

/** A template of markup. Text in its placeholders is escaped, also inside attributes. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { html: String.raw({ raw: strings }, ...parts.map(write)) };
}

/** Text that is already markup: our own, never from outside. */
export function trusted(markup: string): Html {
  return { html: markup };
}

/** A value as JSON that is safe inside a script element. */
export function jsonForScript(value: unknown): Html {
  return { html: JSON.stringify(value).replaceAll('<', '\\u003c') };
}

function write(part: Part): string {
  if (part === undefined) return '';
  if (typeof part === 'string')
    return escapeText(part).replace(/[&<>"']/g, (character) => entities[character] ?? '');
  if (typeof part === 'number') return String(part);
  return 'html' in part ? part.html : part.map(write).join('');
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

import { escapeText } from '../kernel/escape.ts';
import { version } from '../kernel/version.ts';

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
export function trustedMarkup(markup: string): Html {
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

interface Document {
  title: string;
  /** What the page may load and run: a Content-Security-Policy. */
  policy: string;
  /** A style sheet of our own. */
  style: string;
  body: Html;
}

/** A self-contained page, as text. */
export function htmlDocument({ title, policy, style, body }: Document): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="voicectl ${version}">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${trustedMarkup(style)}</style>
</head>
<body>
${body}
</body>
</html>
`;
  return page.html;
}

/** A report as a page that needs nothing else: no network and no script. `style` is added to what all reports share. */
export function reportDocument({ title, style, body }: Omit<Document, 'policy'>): string {
  const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
  return htmlDocument({ title, policy, style: `${reportStyle}${style}`, body });
}

const reportStyle = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif;
  --ink: #1b1f24; --paper: #fff; --card: #f6f7f9; --line: #d5d9df; --muted: #59616b;
  --good: #13713a; --bad: #b3161f; --note: #7a5000; --blue: #1f6fb2 }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --paper: #111418; --card: #1a1e24; --line: #343a43; --muted: #a3abb6;
  --good: #58c987; --bad: #ff7a82; --note: #e5b455; --blue: #6db3f2 } }
* { box-sizing: border-box }
body { margin: 0; padding: clamp(.75rem, 3vw, 2rem); color: var(--ink); background: var(--paper); overflow-wrap: anywhere }
main { max-width: 110rem; margin: 0 auto }
h1 { font-size: 1.25rem; line-height: 1.3; margin: 0 } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem } h3 { font-size: 1rem; margin: 0 }
p { margin: .35rem 0 }
.verdict { display: flex; flex-wrap: wrap; gap: .5rem 1.25rem; align-items: flex-start; padding: 1rem; border: 1px solid var(--line); border-left: .5rem solid var(--muted); background: var(--card) }
.verdict > div { flex: 1 1 16rem; min-width: 0 } .verdict .word { font-size: 1.6rem; font-weight: 700; margin: 0; line-height: 1.2; color: var(--muted) }
.verdict.good { border-left-color: var(--good) } .verdict.good .word { color: var(--good) }
.verdict.bad { border-left-color: var(--bad) } .verdict.bad .word { color: var(--bad) }
.verdict.note { border-left-color: var(--note) } .verdict.note .word { color: var(--note) }
.facts { display: flex; flex-wrap: wrap; gap: .5rem 2rem; margin: 1rem 0 } .facts dt { color: var(--muted); font-size: .85rem } .facts dd { margin: 0 }
.item { border-top: 1px solid var(--line); padding: .75rem 0 .75rem .75rem; border-left: .25rem solid transparent }
.item.bad { border-left-color: var(--bad) } .item.note { border-left-color: var(--note) }
.item h3 { display: flex; flex-wrap: wrap; gap: 0 .6rem; align-items: baseline } .item .id { white-space: nowrap; overflow-wrap: normal }
.item .kind { margin-left: auto; white-space: nowrap } .says { color: var(--muted) }
.good .kind, .pass, .good-text { color: var(--good) } .bad .kind, .fail, .bad-text { color: var(--bad) } .note .kind, .warn, .unknown, .note-text { color: var(--note) }
.muted { color: var(--muted) } .main { color: var(--blue) }
summary { cursor: pointer } .fold { margin: 1.5rem 0; border: 1px solid var(--line); padding: .5rem .75rem } .fold > summary h2 { display: inline; font-size: 1rem }
table { border-collapse: collapse; width: 100% } .wide { overflow-x: auto; max-width: 100% }
.wide td, .wide th { border-top: 1px solid var(--line); padding: .3rem .75rem .3rem 0; text-align: left; vertical-align: top; font-variant-numeric: tabular-nums; overflow-wrap: normal }
.wide th { font-weight: 600 } .wide .figures td, .wide .figures th { white-space: nowrap }
pre { white-space: pre-wrap; overflow: auto; max-height: 24rem; font-size: .8rem; background: var(--card); padding: .5rem; margin: .5rem 0 }
small { color: var(--muted) } a { color: var(--blue) } footer { margin-top: 2rem }
`;

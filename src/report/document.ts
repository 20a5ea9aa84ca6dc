import { version } from '../kernel/version.ts';
import { type Html, html, trusted } from './html.ts';

export interface Document {
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
<style>${trusted(style)}</style>
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
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 0 auto; padding: 2rem 1rem }
table { border-collapse: collapse; width: 100% }
td, th { border-top: 1px solid #8884 }
.pass, .good { color: #13713a } .fail, .bad { color: #c21f2b } .warn, .unknown, .note { color: #8a5a00 }
@media (prefers-color-scheme: dark) { .pass, .good { color: #58c987 } .fail, .bad { color: #ff7079 } .warn, .unknown, .note { color: #e5b455 } }
pre { white-space: pre-wrap } small { opacity: .75 }
`;

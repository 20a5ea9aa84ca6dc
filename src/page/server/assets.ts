import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { uncachedHeaders } from '../../wire/server/http-answer.ts';

/** Where the build puts the files of the page: beside the program, or, for a source file, in dist/. */
const built = new URL(import.meta.url.endsWith('.ts') ? '../../../dist/page/' : './page/', import.meta.url);

/** The media types of the files of the page, by extension. */
const mediaTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};
const fileName = /^[\w-]{1,100}\.(js|css|svg)$/;

/** The page may load and run its own files, send requests to its own emulator, and nothing else. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  'media-src blob:',
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const headers = {
  ...uncachedHeaders,
  'Content-Security-Policy': policy,
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'microphone=(self), camera=(), geolocation=()',
};

const documentOf = (script: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>voicectl</title>
<link rel="icon" href="assets/icon.svg">
<link rel="stylesheet" href="assets/app.css">
<script type="module" src="assets/${script}.js"></script>
</head>
<body>
<noscript>This page needs JavaScript. The terminal shows the same.</noscript>
</body>
</html>
`;

/** A file of the page as text. */
export function readAsset(name: string): Promise<string> {
  return readFile(new URL(name, built), 'utf8');
}

/** Answers with the page itself: of an emulator or a proxy, or of verdicts. */
export function sendDocument(response: ServerResponse, script: 'app' | 'verdicts' = 'app'): void {
  send(response, documentOf(script), 'text/html; charset=utf-8');
}

/** Answers with a file of the page; returns false if there is none with this name. */
export async function sendAsset(response: ServerResponse, name: string): Promise<boolean> {
  const mediaType = mediaTypes[fileName.exec(name)?.[1] ?? ''];
  const text = mediaType && (await readAsset(name).catch(refuseUnlessMissing));
  if (mediaType === undefined || text === undefined) return false;
  send(response, text, mediaType);
  return true;
}

function refuseUnlessMissing(thrown: NodeJS.ErrnoException): undefined {
  if (thrown.code !== 'ENOENT') throw thrown;
}

function send(response: ServerResponse, text: string, mediaType: string): void {
  response.writeHead(200, {
    ...headers,
    'Content-Type': mediaType,
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}

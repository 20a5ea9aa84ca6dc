import { version } from '../../kernel/version.ts';
import { controlOperations, controlPrefix, pagePath } from '../../protocol/control.ts';
import { streamPath, tokenPaths } from '../../protocol/paths.ts';
import type { OutgoingAnswer } from '../../wire/server/http-answer.ts';

/** Paths of the emulator, by purpose. */
const links = {
  token: tokenPaths[0] ?? '',
  stream: streamPath,
  openapi: controlPrefix + controlOperations.openapi.path,
  asyncapi: controlPrefix + controlOperations.asyncapi.path,
  state: controlPrefix + controlOperations.state.path,
};

/** The answer to `GET /`: a page for a browser, JSON with the links for all others. Not part of the specification. */
export function welcomeAnswer(accept: string | undefined, hasPage: boolean): OutgoingAnswer {
  if (!accept?.includes('text/html'))
    return { status: 200, body: JSON.stringify({ name: 'voicectl', version, links }), headers: [varies] };
  const headers = [
    varies,
    ['Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'"],
  ] as const;
  return { status: 200, body: page(hasPage), mediaType: 'text/html; charset=utf-8', headers };
}

const varies = ['Vary', 'Accept'] as const;

const page = (hasPage: boolean) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>voicectl emulator</title>
<style>
  :root { color-scheme: light dark }
  body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }
  dt { font-weight: 600 }
</style>
<h1>voicectl emulator</h1>
<p>This is version ${version} of an emulator of a voice streaming service, for development and tests.</p>
<dl>
  <dt>Token</dt>
  <dd><code>POST ${links.token}</code> with <code>{"apiKey": "…", "deviceId": "…"}</code></dd>
  <dt>Voice stream</dt>
  <dd>WebSocket <code>${links.stream}</code>: send the token as text, then 16 kHz 16-bit mono PCM as binary messages</dd>
  <dt>Descriptions</dt>
  <dd><a href="${links.openapi}">OpenAPI</a>, <a href="${links.asyncapi}">AsyncAPI</a></dd>
  <dt>Now</dt>
  <dd>${hasPage ? `<a href="${pagePath}">The page of this emulator</a>, ` : ''}<a href="${links.state}">devices, streams and tokens as JSON</a>, or <code>voicectl emulator journal --follow</code></dd>
</dl>
<p>Descriptions and state are for this machine only. Beyond loopback they need the control secret.</p>
`;

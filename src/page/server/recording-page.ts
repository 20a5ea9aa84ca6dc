import { createHash } from 'node:crypto';
import type { Recording } from '../../recording/read-recording.ts';
import type { Timeline } from '../../recording/timeline.ts';
import { html, htmlDocument, jsonForScript, trustedMarkup } from '../../report/html.ts';
import { packVoices, recordingView } from '../recording-view.ts';
import { readAsset } from './assets.ts';

/**
 * A recording as one self-contained page: no network, and no script but its own. It contains both voices completely,
 * at most about 5 MB per minute. Throws `bad-input` for more than an hour.
 */
export async function recordingPage(recording: Recording, timeline: Timeline): Promise<string> {
  const view = recordingView(recording, timeline);
  const voices = packVoices(recording);
  const [style, script] = [await readAsset('app.css'), await readAsset('recording.js')];
  const { what, where } = view.title;
  const body = html`<noscript>This page needs JavaScript. In a terminal, <code>voicectl inspect</code> shows the same.</noscript>
<script type="application/json" id="data">${jsonForScript(view)}</script>
<script type="text/plain" id="pcm-out">${trustedMarkup(voices.out)}</script>
<script type="text/plain" id="pcm-in">${trustedMarkup(voices.in)}</script>
<script type="module">${trustedMarkup(script)}</script>`;
  const title = where === undefined ? what : `${what} → ${where}`;
  return htmlDocument({ title, policy: policy(style, script), style, body });
}

/** The page may load and run nothing but its own contents. */
function policy(style: string, script: string): string {
  const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  return [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    'media-src blob:',
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { VoicectlError } from '../kernel/errors.ts';
import { escapeText } from '../kernel/escape.ts';
import { version } from '../kernel/version.ts';
import { sampleRate } from '../protocol/audio-format.ts';
import type { RecordedEvent, RecordedSummary } from '../recording/format.ts';
import type { Recording } from '../recording/read-recording.ts';
import type { Timeline, Turn } from '../recording/timeline.ts';
import { type Html, html, jsonForScript, trusted } from './html.ts';
import { describeEvent, timeText } from './session-lines.ts';
import { createStyle } from './style.ts';

const plain = createStyle(false);
/** About 250 MB of page: browsers still open it. */
const longestMs = 60 * 60_000;

/**
 * A recording as one self-contained page: no network, and no script but its own. It contains both voices completely,
 * about 5 MB a minute at most. Throws `bad-input` for more than an hour.
 */
export async function recordingPage(recording: Recording, timeline: Timeline): Promise<string> {
  if (timeline.durationMs > longestMs) {
    throw new VoicectlError(
      'bad-input',
      `The recording is longer than ${longestMs / 60_000} minutes, the limit of a page`,
    );
  }
  const { manifest, summary, events, problems, audio } = recording;
  const [style, script] = [await readAsset('page.css'), await readScript()];
  const title = manifest === undefined ? 'An incomplete recording' : `${manifest.source} → ${manifest.wsUrl}`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy(style, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="voicectl ${version}">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${trusted(style)}</style>
</head>
<body>
<header>
${heading(recording)}
${failureText(summary)}
${problems.length === 0 ? '' : html`<ul class="problems">${problems.map((problem) => html`<li>${problem}</li>`)}</ul>`}
${metrics(summary, timeline)}
</header>
<main>
${player(timeline)}
<h2 id="turns-title">Turns</h2>
${turnsTable(timeline)}
<h2 id="events-title">Events</h2>
${eventsTable(events)}
${verdictsTable(summary)}
</main>
<footer>Recorded by voicectl ${manifest?.version}${manifest === undefined ? '' : html` at ${manifest.startedAt}`}. This page needs no network. It contains the voices, but no keys and no tokens.</footer>
<script type="application/json" id="data">${jsonForScript(pageData(recording, timeline))}</script>
<script type="text/plain" id="pcm-out">${trusted(packed(audio.out))}</script>
<script type="text/plain" id="pcm-in">${trusted(packed(audio.in))}</script>
<script type="module">${trusted(script)}</script>
</body>
</html>
`;
  return page.html;
}

function readAsset(name: string): Promise<string> {
  return readFile(new URL(`./page/${name}`, import.meta.url), 'utf8');
}

/** The modules of the page, each after those that it imports, as one script. */
async function readScript(): Promise<string> {
  const modules = await Promise.all(['wave.js', 'draw.js', 'main.js'].map(readAsset));
  return modules.map((text) => text.replace(/^import .*\n/gm, '').replace(/^export /gm, '')).join('\n');
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

function packed(pcm: Buffer): string {
  return gzipSync(pcm).toString('base64');
}

function heading({ manifest, summary, durationMs }: Recording): Html {
  const badge =
    summary === undefined
      ? html`<span class="badge note">cut</span>`
      : summary.ok
        ? html`<span class="badge good">ok</span>`
        : html`<span class="badge bad">failed</span>`;
  const length = `${(durationMs / 1000).toFixed(1)} s`;
  if (manifest === undefined)
    return html`<h1>An incomplete recording ${badge}</h1><p class="facts">${length}</p>`;
  const { source, wsUrl, device, startedAt } = manifest;
  return html`<h1>${source} <span class="arrow">→</span> ${URL.canParse(wsUrl) ? new URL(wsUrl).host : wsUrl} ${badge}</h1>
<p class="facts">${startedAt.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')} · ${length} · device ${device} · ${wsUrl}</p>`;
}

function failureText(summary: RecordedSummary | undefined): Html | undefined {
  const failure = summary?.failure ?? undefined;
  return failure && html`<p class="bad">${failure.kind}: ${failure.message}</p>`;
}

function metrics(summary: RecordedSummary | undefined, { turns, gaps }: Timeline): Html {
  const ms = (value: number | null) => (value === null ? '–' : `${value} ms`);
  const shown: [name: string, value: string, note?: string | undefined][] = [];
  if (summary !== undefined) {
    const { firstAudioMs, jitterMs, longestGapMs, close } = summary;
    shown.push(
      ['first audio', ms(firstAudioMs), 'after the end of speech'],
      ['jitter', ms(jitterMs?.p95 ?? null), 'at the 95th percentile'],
      ['longest gap', ms(longestGapMs), 'between AI messages'],
      ['sent', `${(summary.out.audioMs / 1000).toFixed(2)} s`, `${summary.out.frames} messages`],
      ['received', `${(summary.in.audioMs / 1000).toFixed(2)} s`, `${summary.in.frames} messages`],
      ['close', close === null ? '–' : String(close.code), close?.name],
    );
  }
  const count = (voice: Turn['voice']) => turns.filter((turn) => turn.voice === voice).length;
  const late = gaps.length === 0 ? 'no gap in a reply' : `${gaps.length} gaps in replies`;
  shown.push(['turns', `${count('out')} + ${count('in')}`, `yours + AI, ${late}`]);
  return html`<dl class="metrics">${shown.map(
    ([name, value, note]) =>
      html`<div><dt>${name}</dt><dd>${value}${note === undefined ? '' : html` <small>${note}</small>`}</dd></div>`,
  )}</dl>`;
}

function player({ durationMs }: Timeline): Html {
  return html`<section class="player" aria-label="Player">
<div class="controls">
<button type="button" id="play">▶ Play</button>
<span class="time"><output id="now">0:00.000</output> <span>/ <span id="end"></span></span></span>
<fieldset><legend>Voices to hear</legend>
<label><input type="radio" name="hear" value="both" checked> both</label>
<label><input type="radio" name="hear" value="out"> <span class="swatch out"></span> you</label>
<label><input type="radio" name="hear" value="in"> <span class="swatch in"></span> AI</label>
</fieldset>
<label>Speed <select id="speed">${['0.5', '0.75', '1', '1.5', '2'].map(
    (speed) => html`<option value="${speed}"${speed === '1' ? trusted(' selected') : ''}>${speed} ×</option>`,
  )}</select></label>
<span class="right"><button type="button" id="zoom-out" aria-label="Zoom out">−</button> <button type="button" id="zoom-fit">Fit</button> <button type="button" id="zoom-in" aria-label="Zoom in">+</button></span>
</div>
<div id="timeline" tabindex="0" role="slider" aria-label="Position" aria-valuemin="0" aria-valuemax="${Math.round(durationMs)}" aria-valuenow="0">
<div id="extent"><canvas aria-hidden="true"></canvas><div id="playhead"></div></div>
</div>
<p class="hint" id="hint"><kbd>Space</kbd> play <kbd>←</kbd> <kbd>→</kbd> move <kbd>n</kbd> <kbd>p</kbd> next and previous event <kbd>+</kbd> <kbd>−</kbd> <kbd>0</kbd> zoom</p>
<noscript><p class="hint">The timeline and the player need JavaScript; the tables below do not.</p></noscript>
</section>`;
}

function seekButton(t: number): Html {
  return html`<button type="button" class="seek" data-t="${t}">${timeText(t).trim()}</button>`;
}

function turnsTable({ turns, gaps }: Timeline): Html {
  const rows = turns.map(({ voice, startMs, endMs, ...turn }) => ({
    t: startMs,
    cells: html`<td><span class="swatch ${voice}"></span> ${voice === 'out' ? 'you' : 'AI'}</td><td>${seconds(endMs - startMs)}</td><td>${turnNote(turn)}</td>`,
  }));
  const late = gaps.map(({ startMs, endMs }) => ({
    t: startMs,
    cells: html`<td class="bad">gap</td><td>${seconds(endMs - startMs)}</td><td>AI audio was late</td>`,
  }));
  const all = [...rows, ...late].sort((a, b) => a.t - b.t);
  if (all.length === 0) return html`<p class="facts">There is no speech.</p>`;
  return html`<div class="scroll"><table aria-labelledby="turns-title"><thead><tr><th scope="col">at</th><th scope="col">who</th><th scope="col">length</th><th scope="col"></th></tr></thead><tbody>${all.map(
    ({ t, cells }) => html`<tr><td>${seekButton(t)}</td>${cells}</tr>\n`,
  )}</tbody></table></div>`;
}

function turnNote({ afterMs, bargeIn }: Pick<Turn, 'afterMs' | 'bargeIn'>): string {
  if (bargeIn) return 'talks over the AI';
  return afterMs === null ? '' : `${Math.round(afterMs)} ms after you`;
}

function eventsTable(events: readonly RecordedEvent[]): Html {
  return html`<div class="scroll" id="events"><table aria-labelledby="events-title"><thead><tr><th scope="col">at</th><th scope="col">what</th></tr></thead><tbody>${events.map(
    (event) =>
      html`<tr data-t="${event.t}"><td>${seekButton(event.t)}</td><td><code class="${toneOf(event)}">${describeEvent(event, plain)}</code></td></tr>\n`,
  )}</tbody></table></div>`;
}

function verdictsTable(summary: RecordedSummary | undefined): Html | string {
  if (summary === undefined || summary.verdicts.length === 0) return '';
  return html`<h2 id="verdicts-title">Expectations</h2>
<div class="scroll"><table aria-labelledby="verdicts-title"><thead><tr><th scope="col">verdict</th><th scope="col">expectation</th><th scope="col">expected</th><th scope="col">measured</th></tr></thead><tbody>${summary.verdicts.map(
    ({ name, ok, expected, measured }) =>
      html`<tr><td class="${ok ? 'good' : 'bad'}">${ok ? 'pass' : 'FAIL'}</td><td>${name}</td><td>${expected}</td><td>${measured}</td></tr>\n`,
  )}</tbody></table></div>`;
}

type Tone = 'ink' | 'muted' | 'good' | 'bad' | 'note';

function toneOf(event: RecordedEvent): Tone {
  if (event.type === 'warning' || event.type === 'retry') return 'note';
  if (event.type !== 'message') return 'ink';
  if (event.category === 'connected') return 'good';
  return event.category === 'error' || event.category === 'malformed' ? 'bad' : 'ink';
}

/** The data of the page's script. All text is already escaped. */
function pageData({ events, wire }: Recording, { durationMs, turns, gaps }: Timeline): object {
  const marked = ['message', 'warning', 'retry', 'close'];
  return {
    sampleRate,
    durationMs,
    gaps,
    turns: turns.map(({ bargeIn, ...turn }) => ({
      ...turn,
      label: [seconds(turn.endMs - turn.startMs), ...(bargeIn ? ['talks over the AI'] : [])].join(', '),
    })),
    phases: events.flatMap((event) => (event.type === 'state' ? [{ t: event.t, state: event.state }] : [])),
    marks: events
      .filter(({ type }) => marked.includes(type))
      .map((event) => ({
        t: event.t,
        tone: toneOf(event),
        name: escapeText(nameOf(event)),
        text: describeEvent(event, plain) ?? '',
      })),
    arrivals: wire.flatMap((line) => (line.type === 'audio' && line.direction === 'in' ? [line.t] : [])),
  };
}

function nameOf(event: RecordedEvent): string {
  if (event.type === 'warning') return event.code;
  if (event.type === 'close') return `close ${event.code}`;
  if (event.type !== 'message') return event.type;
  const state = (event.body as { status?: unknown } | null)?.status;
  const name = event.kind ?? event.category;
  return typeof state === 'string' && event.category === 'status' ? state : name;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

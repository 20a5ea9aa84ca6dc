import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Dialogue } from '../audio/dialogue/dialogue.ts';
import { VoicectlError } from '../kernel/errors.ts';
import { escapeText } from '../kernel/escape.ts';
import { sampleRate } from '../protocol/audio-format.ts';
import { countText } from '../protocol/count-text.ts';
import { wordOfMessage } from '../protocol/read-message.ts';
import { secondsText } from '../protocol/time-text.ts';
import type { RecordedEvent, RecordedSummary } from '../recording/format.ts';
import type { Recording } from '../recording/read-recording.ts';
import { judgeRecordedVoice, type RecordedVoice } from '../recording/recorded-voice.ts';
import { readDialogue, type Timeline } from '../recording/timeline.ts';
import type { RecordedTurn } from '../recording/turns.ts';
import { type DialogueMark, dialogueMarks, dialogueMedianText } from '../report/dialogue-lines.ts';
import { entryText } from '../report/event-words.ts';
import { describeSessionEvent, transcriptOf } from '../report/session-lines.ts';
import { plainStyle } from '../report/style.ts';
import { summaryMsText } from '../report/summary-lines.ts';
import { createTranscript } from '../session/transcript.ts';
import {
  type Mark,
  type PackedVoices,
  type RecordingView,
  type SpokenLine,
  type Tone,
  tones,
} from './view-data.ts';

/** The page is about 250 MB then: browsers still open it. */
const longestMs = 60 * 60_000;

/** What the page shows of a recording, without its audio. Throws `bad-input` for more than an hour. */
export function recordingView(recording: Recording, timeline: Timeline): RecordingView {
  if (timeline.durationMs > longestMs) {
    throw new VoicectlError(
      'bad-input',
      `The recording is longer than ${longestMs / 60_000} minutes, the limit of a page`,
    );
  }
  const { summary, events, problems, manifest } = recording;
  const dialogue = readDialogue(recording);
  const voice = judgeRecordedVoice(recording);
  const failure = summary?.failure ?? undefined;
  const made = manifest === undefined ? '' : ` ${manifest.version} at ${manifest.startedAt}`;
  return {
    ...headingOf(recording),
    ...marksOf(recording, dialogue, voice),
    ...timeline,
    spoken: spokenIn(recording),
    outcome: recording.isCall ? undefined : summary === undefined ? 'cut' : summary.ok ? 'ok' : 'failed',
    failure: failure && escapeText(`${failure.kind}: ${failure.message}`),
    problems: problems.map(escapeText),
    metrics: [...metricsOf(summary, timeline, dialogue), metricOfVoice(voice)],
    events: events.map((event) => ({ t: event.t, tone: toneOf(event), text: textOf(event) })),
    verdicts: (summary?.verdicts ?? []).map(({ name, ok, skipped, expected, measured }) => ({
      name: escapeText(name),
      outcome: skipped ? 'skip' : ok ? 'pass' : 'FAIL',
      expected: escapeText(expected),
      measured: escapeText(measured),
    })),
    made: escapeText(recording.isCall ? 'Read by voicectl.' : `Recorded by voicectl${made}.`),
    sampleRate,
  };
}

/** Both voices completely, for the page. */
export function packVoices({ audio }: Recording): PackedVoices {
  const pack = (pcm: Buffer) => gzipSync(pcm).toString('base64');
  return { out: pack(audio.out), in: pack(audio.in) };
}

function headingOf({
  manifest,
  durationMs,
  isCall,
  folder,
}: Recording): Pick<RecordingView, 'title' | 'facts'> {
  const length = secondsText(durationMs, 1);
  if (isCall) return { title: { what: escapeText(basename(folder)), where: undefined }, facts: length };
  if (manifest === undefined)
    return { title: { what: 'An incomplete recording', where: undefined }, facts: length };
  const { source, wsUrl, device, startedAt } = manifest;
  const started = startedAt.replace('T', ' ').replace(/\.\d+Z$/, ' UTC');
  return {
    title: { what: escapeText(source), where: escapeText(URL.canParse(wsUrl) ? new URL(wsUrl).host : wsUrl) },
    facts: escapeText(`${started} · ${length} · device ${device} · ${wsUrl}`),
  };
}

function metricsOf(
  summary: RecordedSummary | undefined,
  { turns, gaps }: Timeline,
  { unjudged, figures }: Dialogue,
): RecordingView['metrics'] {
  const shown: RecordingView['metrics'] = [];
  const add = (name: string, value: string, note?: string) => shown.push({ name, value, note });
  if (summary !== undefined) {
    const { firstAudioMs, jitterMs, longestGapMs, close } = summary;
    add('first audio', summaryMsText(firstAudioMs), 'after the end of speech');
    add('jitter', summaryMsText(jitterMs?.p95 ?? null), 'at the 95th percentile');
    add('longest gap', summaryMsText(longestGapMs), 'between AI messages');
    add('sent', secondsText(summary.out.audioMs), `${summary.out.frames} messages`);
    add('received', secondsText(summary.in.audioMs), `${summary.in.frames} messages`);
    add(
      'close',
      close === null ? '–' : String(close.code),
      close === null ? undefined : escapeText(close.name),
    );
  }
  const count = (voice: RecordedTurn['voice']) => turns.filter((turn) => turn.voice === voice).length;
  const late = gaps.length === 0 ? 'no gap in a reply' : `${countText(gaps.length, 'gap')} in replies`;
  if (unjudged === null) {
    add('response', dialogueMedianText(figures.responseMs), 'from the end of a turn to audible AI audio');
    add('yield', dialogueMedianText(figures.yieldMs), 'until an interrupted AI is silent');
    add(
      'both speak',
      secondsText(figures.overlapMs),
      `${secondsText(figures.talkOverMs)} of it while the AI should have been silent`,
    );
  }
  add('turns', `${count('out')} by you, ${count('in')} by the AI`, late);
  return shown;
}

function metricOfVoice({ judgements, unjudged }: RecordedVoice): RecordingView['metrics'][number] {
  const kinds = judgements.map(({ kind }) => kind).join(', ');
  const clean = unjudged === null ? 'clean' : 'not judged';
  return { name: 'voice', value: kinds === '' ? clean : kinds, note: unjudged ?? undefined };
}

/** The summary has the lines without the key, even if it came in pieces; a page cannot find a key that it does not know. */
function spokenIn({ events, summary }: Recording): SpokenLine[] {
  const lines = summary?.transcript ?? joinedFrom(events);
  return lines.map((line) => ({ ...line, text: escapeText(line.text) }));
}

/** For a recording that broke off, or of an earlier version. */
function joinedFrom(events: readonly RecordedEvent[]): readonly SpokenLine[] {
  const transcript = createTranscript();
  for (const event of events) if (event.type === 'message') transcript.add(transcriptOf(event), event.t);
  return transcript.lines;
}

function textOf(event: RecordedEvent): string {
  return entryText(describeSessionEvent(event), plainStyle);
}

function toneOf(event: RecordedEvent): Tone {
  if (event.type === 'message' && event.category === 'connected') return 'good';
  return tones[describeSessionEvent(event).level];
}

const marked: readonly RecordedEvent['type'][] = ['message', 'warning', 'retry', 'close'];

function marksOf(
  { events, wire }: Recording,
  dialogue: Dialogue,
  voice: RecordedVoice,
): Pick<RecordingView, 'phases' | 'marks' | 'arrivals'> {
  return {
    phases: events.flatMap((event) => (event.type === 'state' ? [{ t: event.t, state: event.state }] : [])),
    marks: events
      .filter((event) => marked.includes(event.type) && !('agoMs' in event))
      .map((event) => ({
        t: event.t,
        tone: toneOf(event),
        name: escapeText(nameOf(event)),
        text: textOf(event),
      }))
      .concat(
        dialogueMarks(dialogue).map(markOfDialogue),
        voice.moments.map(({ t, kind, text }) => ({
          ...{ t, tone: 'bad' as const, name: kind },
          text: escapeText(text),
        })),
      ),
    arrivals: wire.flatMap((line) => (line.type === 'audio' && line.direction === 'in' ? [line.t] : [])),
  };
}

/** A moment of two voices, as a picture of a recording or of a live stream marks it. */
export function markOfDialogue({ t, name, text, isProblem }: DialogueMark): Mark {
  return { t, tone: isProblem ? 'note' : 'good', name, text };
}

function nameOf(event: RecordedEvent): string {
  if (event.type === 'warning') return event.code;
  if (event.type === 'close') return `close ${event.code}`;
  return event.type === 'message' ? wordOfMessage(event) : event.type;
}

import { lstat, rm, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { Dialogue } from '../../audio/dialogue/dialogue.ts';
import { turnHangOverMs } from '../../audio/speech-gate.ts';
import { createWavFile } from '../../audio/wav/wav-file.ts';
import { lookAt, writeText } from '../../files/output-file.ts';
import { noStdin, readText } from '../../files/read-text.ts';
import { cannotWrite, refusal } from '../../files/refusal.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { escapeText, jsonLine } from '../../kernel/escape.ts';
import { bytesForMs, bytesPerSample } from '../../protocol/audio-format.ts';
import { countText } from '../../protocol/count-text.ts';
import { secondsText } from '../../protocol/time-text.ts';
import type { Manifest, RecordedEvent } from '../../recording/format.ts';
import { type Recording, readCall, readRecording } from '../../recording/read-recording.ts';
import type { RecordedScenario } from '../../recording/recorded-scenario.ts';
import { judgeRecordedVoice, type RecordedVoice } from '../../recording/recorded-voice.ts';
import { readDialogue, readTimeline, type Timeline } from '../../recording/timeline.ts';
import { dialogueLines } from '../../report/dialogue-lines.ts';
import { sessionLines } from '../../report/session-lines.ts';
import { type Style, speaksUnicode } from '../../report/style.ts';
import { summaryLines, voiceLines } from '../../report/summary-lines.ts';
import { labelColumns, timelineLines } from '../../report/timeline-lines.ts';
import type { ContextOf } from '../command.ts';

export async function run(context: ContextOf<'inspect'>): Promise<number> {
  const { args, settings, json, io, note, warn } = context;

  const path = args[0] ?? '';
  const isFile = (await stat(path).catch(() => undefined))?.isFile() === true;
  if (settings.swap && !isFile)
    throw new VoicectlError('usage', '--swap is for a stereo WAV: a recording knows who is who');
  const recording = isFile
    ? await readCall(path, { swap: settings.swap ?? false })
    : await readRecording(path);
  const timeline = readTimeline(recording);
  const dialogue = readDialogue(recording);
  const voice = judgeRecordedVoice(recording);
  for (const problem of recording.problems) await warn(problem);
  for (const path of await writeExports(context, recording, timeline)) await note(`Wrote ${path}`);
  if (json) {
    const { manifest = null, summary = null, events, problems } = recording;
    await io.stdout.write(jsonLine({ manifest, ...timeline, dialogue, voice, events, summary, problems }));
    return 0;
  }
  if ([settings.html, settings.har, settings.scenarioOut].some((path) => path !== undefined)) return 0;
  await io.stdout.write(
    `${(await describe(context, recording, { ...timeline, dialogue, voice })).join('\n')}\n`,
  );
  return 0;
}

/** Writes the files of `--html` and `--har`. Returns their paths. */
async function writeExports(
  context: ContextOf<'inspect'>,
  recording: Recording,
  timeline: Timeline,
): Promise<string[]> {
  const { html, har, scenarioOut } = context.settings;
  const { giveUp } = context.io;
  const options = { isPrivate: true, giveUp };
  // Before anything is written.
  if (har !== undefined && recording.isCall)
    throw refusal(recording.folder, 'it contains no exchanges for --har, only audio');
  if (html !== undefined) {
    const { recordingPage } = await import('../../page/server/recording-page.ts');
    await writeText(html, await recordingPage(recording, timeline), options);
  }
  if (har !== undefined) {
    const { recordingHar } = await import('../../recording/har.ts');
    await writeText(har, `${JSON.stringify(recordingHar(recording), undefined, 2)}\n`, options);
  }
  const scenario =
    scenarioOut === undefined ? [] : await exportScenario(scenarioOut, context, [recording, timeline]);
  return [html, har, ...scenario].filter((path) => path !== undefined);
}

/** The WAVs of a scenario are beside it and are named after it. */
function naming(path: string) {
  const name = basename(path, extname(path));
  return { clipName: (number: number) => `${name}-${number}.wav`, turnEndMs: turnHangOverMs };
}

/** Replaces an existing scenario and the WAVs that it plays, but no other file. */
async function exportScenario(
  path: string,
  { io: { giveUp }, warn }: ContextOf<'inspect'>,
  recorded: [Recording, Timeline],
): Promise<string[]> {
  const { clipsOf, recordedScenario } = await import('../../recording/recorded-scenario.ts');
  const isThere = (await lookAt(path))?.isFile() === true;
  // A file that cannot be read is not a scenario.
  const before = isThere ? await readText(path, noStdin).catch(() => '') : '';
  const scenario = recordedScenario(...recorded, naming(path));
  return writeScenario(path, scenario, { giveUp, warn, own: clipsOf(before) });
}

/** Writes a scenario and the replies in it. Returns the paths. */
async function writeScenario(
  path: string,
  { text, clips, leftOut }: RecordedScenario,
  {
    giveUp,
    warn,
    own,
  }: Pick<ContextOf<'inspect'>, 'warn'> & { giveUp: AbortSignal; own: ReadonlySet<string> },
): Promise<string[]> {
  const files = clips.map(({ name, pcm }) => ({
    file: join(dirname(path), name),
    pcm,
    isOwn: own.has(name),
  }));
  for (const { file, isOwn } of files) {
    const there = await lstat(file).catch(() => undefined);
    if (there !== undefined && !(isOwn && there.isFile())) throw cannotWrite(file, 'it already exists');
  }
  await writeText(path, text, { isPrivate: true, giveUp });
  for (const { file, pcm, isOwn } of files) {
    if (isOwn) await rm(file, { force: true });
    const wav = await createWavFile(file, { isPrivate: true, giveUp });
    await wav.write(pcm);
    await wav.close();
  }
  if (leftOut > 0)
    await warn(
      `! ${countText(leftOut, 'message')} that are not JSON were left out: a scenario cannot send them`,
    );
  return [path, ...files.map(({ file }) => file)];
}

const defaultColumns = 100;
const mostColumns = 200;

async function describe(
  { io, settings, style }: ContextOf<'inspect'>,
  recording: Recording,
  { dialogue, voice, ...timeline }: Timeline & { dialogue: Dialogue; voice: RecordedVoice },
): Promise<string[]> {
  const width = Math.min(mostColumns, io.stdout.columns ?? defaultColumns);
  const columns = Math.max(20, width - labelColumns);
  const { audio, events, summary, manifest, durationMs, isCall } = recording;
  const peaksOf = (pcm: Buffer) => readPeaks(pcm, bytesForMs(durationMs), columns);
  const picture = {
    ...timeline,
    dialogue,
    peaks: { out: peaksOf(audio.out), in: peaksOf(audio.in) },
    events,
    sounds: voice.moments,
  };
  const ascii = settings.ascii ?? !speaksUnicode(io.env);
  return [
    isCall
      ? `${style.strong(escapeText(recording.folder))}  ${secondsText(durationMs, 1)}`
      : recordingTitle(manifest, durationMs, style),
    '',
    ...timelineLines(picture, { ascii, style }),
    '',
    ...(audio.out.length === 0 ? [] : dialogueLines(dialogue, style)),
    ...(summary?.voice === undefined ? voiceLines(voice, style) : []),
    ...(events.length === 0 ? [] : ['']),
    ...events.flatMap((event: RecordedEvent) => sessionLines(event, style)),
    ...(isCall
      ? []
      : [
          '',
          ...(summary === undefined
            ? ['No summary: the recording is incomplete.']
            : summaryLines(summary, style)),
        ]),
  ];
}

/** What was recorded, as a line. */
function recordingTitle(manifest: Manifest | undefined, durationMs: number, style: Style): string {
  const length = secondsText(durationMs, 1);
  if (manifest === undefined) return `${style.strong('an incomplete recording')}  ${length}`;
  const { source, device, wsUrl, startedAt, version } = manifest;
  const what = `${escapeText(source)} as ${escapeText(device)} to ${escapeText(wsUrl)}`;
  return `${style.strong(escapeText(startedAt))}  ${length}  ${what}  (voicectl ${escapeText(version)})`;
}

/** The loudest amplitude (0 to 1) in each of `columns` equal parts of `pcm`, which has `bytes` in all. */
export function readPeaks(pcm: Buffer, bytes: number, columns: number): number[] {
  const samples = Math.ceil(bytes / bytesPerSample);
  const at = (column: number) => Math.floor((column * samples) / columns);
  return Array.from({ length: columns }, (_, column) => {
    let peak = 0;
    const end = Math.min(Math.floor(pcm.length / bytesPerSample), at(column + 1));
    for (let index = at(column); index < end; index += 1) {
      peak = Math.max(peak, Math.abs(pcm.readInt16LE(index * bytesPerSample)));
    }
    return peak / 0x8000;
  });
}

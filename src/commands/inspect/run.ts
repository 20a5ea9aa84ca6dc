import type { RecordedEvent } from '../../recording/format.ts';
import type { Recording } from '../../recording/read-recording.ts';
import type { Timeline } from '../../recording/timeline.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { speaksUnicode } from '../terminal/speaks-unicode.ts';

type InspectContext = CommandContext<'html' | 'har' | 'ascii'>;

export const inspectCommand = defineCommand({
  name: 'inspect',
  summary: 'show a recording: its timeline, events and summary; or make a page or a HAR of it',
  args: [['<recording>', 'folder that stream --record has written']],
  options: ['html', 'har', 'ascii'],
  examples: [
    'voicectl inspect session/',
    'voicectl inspect session/ --html session.html',
    'voicectl inspect session/ --har session.har',
  ],
  async run(context) {
    const { args, settings, json, io, note } = context;
    const { readRecording } = await import('../../recording/read-recording.ts');
    const { readTimeline } = await import('../../recording/timeline.ts');
    const { jsonLine } = await import('../../kernel/escape.ts');

    const recording = await readRecording(args[0] ?? '');
    const timeline = readTimeline(recording);
    for (const problem of recording.problems) await note(problem);
    for (const path of await writeExports(context, recording, timeline)) await note(`Wrote ${path}`);
    if (json) {
      const { manifest = null, summary = null, events, problems } = recording;
      await io.stdout.write(jsonLine({ manifest, ...timeline, events, summary, problems }));
      return 0;
    }
    if (settings.html !== undefined || settings.har !== undefined) return 0;
    await io.stdout.write(`${(await describe(context, recording, timeline)).join('\n')}\n`);
    return 0;
  },
});

/** Writes what `--html` and `--har` ask for; the paths of both. */
async function writeExports(
  { settings: { html, har } }: InspectContext,
  recording: Recording,
  timeline: Timeline,
): Promise<string[]> {
  const { writeExport } = await import('../../files/write-export.ts');
  if (html !== undefined) {
    const { recordingPage } = await import('../../report/recording-page.ts');
    await writeExport(html, await recordingPage(recording, timeline));
  }
  if (har !== undefined) {
    const { recordingHar } = await import('../../recording/har.ts');
    await writeExport(har, `${JSON.stringify(recordingHar(recording), undefined, 2)}\n`);
  }
  return [html, har].filter((path) => path !== undefined);
}

const defaultColumns = 100;
const mostColumns = 200;

async function describe(
  { io, settings, style }: InspectContext,
  recording: Recording,
  timeline: Timeline,
): Promise<string[]> {
  const { readPeaks } = await import('../../recording/peaks.ts');
  const { labelColumns, timelineLines } = await import('../../report/timeline-lines.ts');
  const { recordingTitle } = await import('../../report/recording-title.ts');
  const { sessionLines } = await import('../../report/session-lines.ts');
  const { summaryLines } = await import('../../report/summary-lines.ts');
  const { bytesForMs } = await import('../../protocol/audio-format.ts');

  const width = Math.min(mostColumns, io.stdout.columns ?? defaultColumns);
  const columns = Math.max(20, width - labelColumns);
  const { audio, events, summary, manifest, durationMs } = recording;
  const peaksOf = (pcm: Buffer) => readPeaks(pcm, bytesForMs(durationMs), columns);
  const picture = { ...timeline, peaks: { out: peaksOf(audio.out), in: peaksOf(audio.in) }, events };
  const ascii = settings.ascii ?? !speaksUnicode(io.env);
  return [
    recordingTitle(manifest, durationMs, style),
    '',
    ...timelineLines(picture, { ascii, style }),
    '',
    ...events.flatMap((event: RecordedEvent) => sessionLines(event, style)),
    '',
    ...(summary === undefined ? ['No summary: the recording was cut.'] : summaryLines(summary, style)),
  ];
}

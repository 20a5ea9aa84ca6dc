import { type AudioSource, describeFormat, type TimedMessage, wireFormat } from '../audio/source.ts';
import { refusal } from '../files/refusal.ts';
import { msForBytes } from '../protocol/audio-format.ts';
import { readRecording } from './read-recording.ts';
import { pcmOf, replayOrigin } from './replay.ts';

/**
 * The messages of the recorded user, each at its time after the confirmation. Throws `bad-input` if nothing was sent, and
 * the errors of reading.
 */
export async function openReplaySource(folder: string): Promise<AudioSource> {
  const recording = await readRecording(folder);
  const origin = replayOrigin(recording);
  const messages: TimedMessage[] = recording.wire.flatMap((line) =>
    line.type === 'audio' && line.direction === 'out'
      ? [{ atMs: line.t - origin, pcm: pcmOf(recording, line) }]
      : [],
  );
  const last = messages.at(-1);
  if (last === undefined) throw refusal(folder, 'it contains no audio from the user');
  return {
    description: describeFormat(wireFormat),
    durationMs: last.atMs + msForBytes(last.pcm.length),
    repeatable: true,
    messages,
    async *read() {
      for (const { pcm } of messages) yield pcm;
    },
  };
}

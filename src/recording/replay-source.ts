import type { AudioSource, TimedMessage } from '../audio/source.ts';
import { describeFormat, wireFormat } from '../audio/source-format.ts';
import { refusal } from '../files/refusal.ts';
import { msForBytes } from '../protocol/audio-format.ts';
import { readRecording } from './read-recording.ts';
import { pcmOf, replayOrigin } from './replay.ts';

/**
 * What the user of a recording said, message by message and each at its time after the confirmation.
 * Throws `bad-input` where nothing was sent, and what reading throws.
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
  if (last === undefined) throw refusal(folder, 'nobody spoke in it');
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

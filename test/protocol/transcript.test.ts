import { describe, expect, test } from 'vitest';
import { readServiceMessage } from '../../src/protocol/messages.ts';
import { readTranscript } from '../../src/protocol/transcript.ts';
import { createTranscript } from '../../src/session/transcript.ts';

const read = (body: unknown) => readTranscript(readServiceMessage(JSON.stringify(body)));

describe('a transcript', () => {
  test.each([
    [
      { type: 'transcript', role: 'user', text: 'hello' },
      { who: 'you', text: 'hello', isPart: false },
    ],
    [
      { type: 'transcript', role: 'assistant', text: 'hi' },
      { who: 'AI', text: 'hi', isPart: false },
    ],
    [
      { type: 'transcript', text: 'hi', final: false },
      { who: undefined, text: 'hi', isPart: true },
    ],
    [
      { type: 'user_transcription', content: 'hi' },
      { who: 'you', text: 'hi', isPart: false },
    ],
    [
      { type: 'response.audio_transcript.delta', delta: 'It' },
      { who: 'AI', text: 'It', isPart: true },
    ],
    [
      { type: 'status', status: 'speaking', transcript: 'Hi' },
      { who: undefined, text: 'Hi', isPart: false },
    ],
    [
      { type: 'status', status: 'speaking', text: 'Hi' },
      { who: undefined, text: 'Hi', isPart: false },
    ],
    [
      { type: 'transcript', transcript: { speaker: 'ai', text: 'ho' } },
      { who: 'AI', text: 'ho', isPart: false },
    ],
    [
      { type: 'transcription', data: { role: 'user', text: 'ho', isFinal: true } },
      { who: 'you', text: 'ho', isPart: false },
    ],
    [{ type: 'lights', text: 'on' }, undefined],
    [{ type: 'status', status: 'listening' }, undefined],
    [{ type: 'transcript', text: ' ' }, undefined],
    [{ type: 'error', error: { code: 'X', message: 'y' }, text: 'z' }, undefined],
    ['text', undefined],
  ])('in %j is read', (body, spoken) => {
    expect(read(body)).toEqual(spoken);
  });

  test('of parts becomes one line for each voice and turn', () => {
    const { lines, take } = createTranscript();
    take({ who: 'AI', text: 'It is', isPart: true }, 1);
    take({ who: 'you', text: 'wait', isPart: false }, 2);
    take({ who: 'AI', text: ' half', isPart: true }, 3);
    take({ who: 'AI', text: 'It is half past', isPart: true }, 4);
    take({ who: 'AI', text: 'It is half past nine.', isPart: false }, 5);
    take({ who: 'AI', text: 'Bye', isPart: false }, 6);
    expect(lines).toEqual([
      { t: 1, who: 'AI', text: 'It is half past nine.' },
      { t: 2, who: 'you', text: 'wait' },
      { t: 6, who: 'AI', text: 'Bye' },
    ]);
  });

  test('has bounds', () => {
    const { lines, take } = createTranscript();
    for (let t = 0; t < 300; t += 1) take({ who: 'AI', text: 'x'.repeat(5_000), isPart: false }, t);
    expect(lines).toHaveLength(200);
    expect(lines[0]?.text).toHaveLength(2_000);
  });
});

import { describe, expect, test } from 'vitest';
import { readServiceMessage } from '../../src/protocol/messages.ts';
import { readTranscript, spokenText } from '../../src/protocol/transcript.ts';
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

  test.each([
    ...['transcript', 'Transcription', 'utterance_end', 'captions', 'subtitle', 'speech_to_text'],
    ...['speechtotext', 'speech-to-text', 'recognised', 'recognized'],
  ])('is what a message of the kind %s holds', (type) => {
    expect(read({ type, text: 'hello' })).toMatchObject({ text: 'hello' });
  });

  test.each(['text', 'content', 'delta', 'transcript', 'transcription', 'utterance'])(
    'stands under %s',
    (field) => {
      expect(read({ type: 'caption', [field]: 'hello' })).toMatchObject({ text: 'hello' });
    },
  );

  test.each(['transcript', 'transcription', 'utterance'])('is found under %s in any message', (field) => {
    expect(read({ type: 'x', [field]: 'hello' })).toMatchObject({ text: 'hello' });
  });

  test.each(['data', 'payload', 'item', 'transcript', 'transcription', 'utterance'])(
    'may stand deeper, under %s',
    (place) => {
      expect(read({ type: 'caption', [place]: { text: 'hello' } })).toMatchObject({ text: 'hello' });
    },
  );

  test.each([
    ...['user', 'human', 'client', 'device', 'Customer', 'caller', 'input', 'you'].map((role) => [
      role,
      'you',
    ]),
    ...['assistant', 'ai', 'the AI', 'agent', 'bot', 'model', 'service', 'output', 'response', 'reply'].map(
      (role) => [role, 'AI'],
    ),
    ...['main', 'aim', 'said', 'youth', 'thank you', 'someone'].map((role) => [role, undefined]),
  ])('of %s is spoken by %s', (role, who) => {
    expect(read({ type: 'caption', role, text: 'hello' })).toMatchObject({ who });
  });

  test.each(['role', 'speaker', 'source', 'from', 'participant'])('names its speaker under %s', (field) => {
    expect(read({ type: 'caption', [field]: 'user', text: 'hello' })).toMatchObject({ who: 'you' });
  });

  test.each([
    [{ type: 'caption' }, false],
    [{ type: 'caption', final: false }, true],
    [{ type: 'caption', isFinal: false }, true],
    [{ type: 'caption', is_final: false }, true],
    [{ type: 'caption', data: { final: false } }, true],
    [{ type: 'caption', final: 'no', isFinal: true }, false],
    [{ type: 'caption_delta' }, true],
    [{ type: 'PartialCaption' }, true],
    [{ type: 'caption.interim' }, true],
  ])('in %j is a part: %j', (body, isPart) => {
    expect(read({ text: 'hello', ...body })).toMatchObject({ isPart });
  });

  test.each([
    [{ type: 'service_voice_connected', transcript: 'hello' }],
    [{ type: 'error', transcript: 'hello' }],
    [{ type: 'x', text: 'hello' }],
    [{ type: 'caption', text: 7 }],
    [{ type: 'caption', data: 'hello' }],
    [['hello']],
  ])('is not in %j', (body) => {
    expect(read(body)).toBeUndefined();
  });

  test.each([
    [{ who: 'AI', text: 'It is nine', isPart: false }, 'AI: It is nine'],
    [{ who: 'you', text: 'What', isPart: true }, 'you: What …'],
    [{ who: undefined, text: 'hello', isPart: false }, 'hello'],
  ] as const)('%j is a line', (spoken, line) => {
    expect(spokenText(spoken)).toBe(line);
  });

  test('a secret is removed from parts that each tell all so far', () => {
    const redact = (text: string) => text.replaceAll('SECRET-123456', '[redacted]');
    const { lines, add } = createTranscript({ clean: redact });
    for (const text of ['my key is SECRET', 'my key is SECRET-123456 ok', 'my key is SECRET-123456 ok then'])
      add({ who: 'ai', text, isPart: true } as never, 0);
    expect(lines).toMatchObject([{ text: 'my key is [redacted] ok then' }]);
  });

  test('of parts becomes one line for each voice and turn', () => {
    const { lines, add } = createTranscript();
    add({ who: 'AI', text: 'It is', isPart: true }, 1);
    add({ who: 'you', text: 'wait', isPart: false }, 2);
    add({ who: 'AI', text: ' half', isPart: true }, 3);
    add({ who: 'AI', text: 'It is half past', isPart: true }, 4);
    add({ who: 'AI', text: 'It is half past nine.', isPart: false }, 5);
    add({ who: 'AI', text: 'Bye', isPart: false }, 6);
    expect(lines).toEqual([
      { t: 1, who: 'AI', text: 'It is half past nine.' },
      { t: 2, who: 'you', text: 'wait' },
      { t: 6, who: 'AI', text: 'Bye' },
    ]);
  });

  test('has bounds', () => {
    const { lines, add } = createTranscript();
    for (let t = 0; t < 300; t += 1) add({ who: 'AI', text: 'x'.repeat(5_000), isPart: false }, t);
    expect(lines).toHaveLength(200);
    expect(lines[0]?.text).toHaveLength(2_000);
  });
});

import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { recordingView } from '../../src/page/recording-view.ts';
import { readRecording } from '../../src/recording/read-recording.ts';
import { readDialogue, readTimeline } from '../../src/recording/timeline.ts';
import { plainStyle } from '../../src/report/style.ts';
import { summaryLines } from '../../src/report/summary-lines.ts';
import { message, setUpBundles } from '../helpers/bundles.ts';
import { makeSummary } from '../helpers/summaries.ts';

const bundles = setUpBundles();

async function example() {
  const { folder } = await bundles.write((writer) => {
    message(writer, 100, 'connected', { type: 'service_voice_connected' });
    writer.audio('in', 100, Buffer.alloc(640, 1));
    writer.audio('in', 120, Buffer.alloc(640, 2));
  });
  return { folder, path: (name: string) => join(folder, name) };
}

describe('a recording that breaks off', () => {
  test('within a line is read without the line, and says so', async () => {
    const { folder, path } = await example();
    for (const name of ['wire.jsonl', 'events.jsonl']) {
      const whole = readFileSync(path(name));
      truncateSync(path(name), whole.length - 5);
    }
    const { wire, events, problems } = await readRecording(folder);
    expect(wire.map(({ type }) => type)).toEqual(['text', 'audio']);
    expect(events).toEqual([]);
    expect(problems).toEqual([
      'The last line of events.jsonl is incomplete and was ignored',
      'The last line of wire.jsonl is incomplete and was ignored',
      'There is no summary.json: the recording is incomplete',
    ]);
  });

  test('before the header was updated is read with all its audio', async () => {
    const { folder, path } = await example();
    const wav = readFileSync(path('ai.wav'));
    wav.writeUInt32LE(0, 40);
    writeFileSync(path('ai.wav'), wav);
    expect((await readRecording(folder)).audio.in).toEqual(wav.subarray(44));
  });

  test.each([0, 10, 43, 44, 45, 5_000])(
    'after %i bytes of the WAV: what is told of is there',
    async (bytes) => {
      const { folder, path } = await example();
      truncateSync(path('ai.wav'), Math.min(bytes, readFileSync(path('ai.wav')).length));
      const { wire, audio } = await readRecording(folder);
      for (const line of wire)
        if (line.type === 'audio') expect(line.at + line.bytes).toBeLessThanOrEqual(audio.in.length);
      expect(audio.in.length % 2).toBe(0);
    },
  );

  test.each([
    ['of 24 bit', (wav: Buffer) => wav.writeUInt16LE(24, 34)],
    ['in stereo', (wav: Buffer) => wav.writeUInt16LE(2, 22)],
    ['of 8 kHz', (wav: Buffer) => wav.writeUInt32LE(8_000, 24)],
    ['with another chunk before the audio', (wav: Buffer) => wav.write('LIST', 36)],
  ])(
    'whose WAV was saved by another program, %s, is read without its audio, and says so',
    async (_what, change) => {
      const { folder, path } = await example();
      const wav = readFileSync(path('ai.wav'));
      change(wav);
      writeFileSync(path('ai.wav'), wav);
      const { audio, problems } = await readRecording(folder);
      expect(audio.in.length).toBe(0);
      expect(problems).toContain(
        'ai.wav is damaged, or another program has written it: its audio is left out',
      );
    },
  );

  test('with a time that no session has is read without that line', async () => {
    const { folder, path } = await example();
    appendFileSync(path('wire.jsonl'), '{"t":1e12,"type":"audio","direction":"in","at":0,"bytes":640}\n');
    appendFileSync(path('wire.jsonl'), '{"t":1e9,"type":"audio","direction":"in","at":0,"bytes":640}\n');
    const recording = await readRecording(folder);
    expect(recording.problems).toContain('1 line of wire.jsonl could not be understood and was ignored');
    expect(readDialogue(recording).unjudged).toBe('only the first hour is judged');
  });

  test.each(['recording.json', 'wire.jsonl', 'you.wav', 'ai.wav', 'events.jsonl'])(
    'before there was a %s opens',
    async (name) => {
      const { folder, path } = await example();
      rmSync(path(name));
      await expect(readRecording(folder)).resolves.toMatchObject({ problems: expect.any(Array) });
    },
  );

  test('at once can be opened, and is empty', async () => {
    const folder = bundles.newPath();
    mkdirSync(folder);
    expect(await readRecording(folder)).toMatchObject({
      durationMs: 0,
      events: [],
      wire: [],
      manifest: undefined,
    });
  });
});

test('lines that cannot be understood are left out and counted', async () => {
  const { folder, path } = await example();
  appendFileSync(path('events.jsonl'), 'null\n{"t":1,"type":"unheard-of"}\n{"t":"1","type":"state"}\n');
  const { events, problems } = await readRecording(folder);
  expect(events.map(({ type }) => type)).toEqual(['message']);
  expect(problems).toContain('3 lines of events.jsonl could not be understood and were ignored');
});

describe('a summary that this version did not write', () => {
  const readWith = async (fields: object) => {
    const recording = await bundles.write(() => {}, { summary: { ...makeSummary(), ...fields } });
    const { summary } = recording;
    // All that reads it, as `inspect` and the page do.
    readDialogue(recording);
    recordingView(recording, readTimeline(recording));
    const lines = summary === undefined ? [] : summaryLines(summary, plainStyle);
    return { recording, text: lines.join('\n') };
  };
  const judged = { turns: [], ai: [], unjudged: null };

  test.each([
    { transcript: 'x' },
    { transcript: [{ t: 1, who: '\u001b]0;pwned\u0007\u001b[31mX', text: 'y' }] },
    { transcript: [{ t: 1, who: 'AI' }] },
    { dialogue: {} },
    { dialogue: { unjudged: null, rules: { waitMs: 1 } } },
    { dialogue: { ...judged, figures: {}, rules: { waitMs: 1 } } },
    { dialogue: { unjudged: 'too long', rules: {} } },
    { voice: { findings: [], remarks: [], unjudged: null, judgements: [{ text: 1 }] } },
  ])('is damaged if something is not what it should be: %j', async (fields) => {
    const { recording } = await readWith(fields);
    expect(recording.problems).toEqual(['summary.json is incomplete or damaged']);
    expect(recording.summary).toBeUndefined();
  });

  test('is shown without the figures of the voice that it does not have', async () => {
    const { recording, text } = await readWith({
      voice: { findings: [], remarks: [], unjudged: 'it is silent' },
    });
    expect(recording.problems).toEqual([]);
    expect(text).toMatch(/^voice +not judged: it is silent$/m);
    expect(text).not.toMatch(/undefined|NaN/);
  });

  test('is shown with the transcript and the fields that a later version adds', async () => {
    const { recording, text } = await readWith({
      transcript: [{ t: 1, who: 'AI', text: 'It is \u001b[31mon', later: 1 }],
      later: true,
    });
    expect(recording.problems).toEqual([]);
    expect(text).toContain('AI: It is \\u001b[31mon');
  });
});

describe('anything but a recording is refused', () => {
  test('a folder with other files', async () => {
    const { folder, path } = await example();
    await expect(readRecording(dirname(folder))).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringContaining('no recording.json'),
    });
    await expect(readRecording(path('ai.wav'))).rejects.toMatchObject({ code: 'bad-input' });
    await expect(readRecording(path('missing'))).rejects.toMatchObject({ code: 'bad-input' });
  });

  test.skipIf(process.platform === 'win32')(
    'one with a pipe among its files, which nobody writes',
    async () => {
      const { folder, path } = await example();
      rmSync(path('events.jsonl'));
      execFileSync('mkfifo', [path('events.jsonl')]);
      await expect(readRecording(folder)).rejects.toMatchObject({
        code: 'bad-input',
        message: expect.stringContaining('it is not a file'),
      });
    },
  );

  test('a later format, with advice', async () => {
    const { folder, path } = await example();
    writeFileSync(path('recording.json'), '{"schema":3}');
    await expect(readRecording(folder)).rejects.toMatchObject({
      code: 'bad-input',
      hint: 'Use a newer voicectl.',
    });
  });
});

test('a warning keeps its hint', async () => {
  const warning = {
    t: 5,
    type: 'warning',
    code: 'device-lost',
    message: 'The microphone was lost',
    hint: 'It is waited for.',
  } as const;
  const { events } = await bundles.write((writer) => writer.event(warning));
  expect(events).toEqual([warning]);
});

import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Dialogue } from '../../src/audio/dialogue/dialogue.ts';
import { wireFormat } from '../../src/audio/source.ts';
import { makeWavHeader } from '../../src/audio/wav/wav-header.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { fixture, jsonLines, only, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();

/** A recording that is made once; each test gets a copy. */
let recorded: string;
beforeAll(async () => {
  recorded = mkdtempSync(join(tmpdir(), 'voicectl-inspect-'));
  const { code } = await sandbox.runHere([
    ...['stream', '--file', fixture('barge-in.wav'), '--local', '--reply', 'echo', '--pace', 'max'],
    ...['--tail', '0', '--settle', '200ms', '--record', join(recorded, 'r'), '--device', 'd1'],
  ]);
  expect(code).toBe(0);
});
beforeEach(() => cpSync(join(recorded, 'r'), sandbox.path('r'), { recursive: true }));
afterAll(() => rmSync(recorded, { recursive: true, force: true }));

const unicode = { env: { LANG: 'en_US.UTF-8' } };

describe('inspect', () => {
  test('shows the timeline, the events and the summary', async () => {
    const { code, stdout, stderr } = await sandbox.runHere(['inspect', 'r'], unicode);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^\d{4}-\d\d-\d\dT\S+Z {2}\d+\.\d s {2}\S+barge-in\.wav as d1 to ws:/);
    expect(stdout).toMatch(/^you .*[▂▃▄▅▆▇█]/m);
    expect(stdout).toMatch(/^ai .*[▂▃▄▅▆▇█]/m);
    expect(stdout).toMatch(/^ +\d\.\d{3} {2}↓ service_voice_connected/m);
    expect(stdout).toMatch(/^close +1000 normal$/m);
    expect(stdout).not.toContain('\u001b');
  });

  test.each([
    ['a locale that is not UTF-8', [], { LANG: 'C' }],
    ['--ascii', ['--ascii'], unicode.env],
  ])('draws in ASCII with %s', async (_what, flags, env) => {
    const { stdout } = await sandbox.runHere(['inspect', 'r', ...flags], { env });
    expect(stdout.split('\n').find((line) => line.startsWith('you'))).toMatch(/^[\x20-\x7e]*#[\x20-\x7e]*$/);
  });

  test('with --json everything but the audio is one object', async () => {
    const { stdout } = await sandbox.runHere(['inspect', 'r', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      manifest: { schema: 2, device: 'd1' },
      durationMs: expect.any(Number),
      turns: [{ voice: 'out' }, { voice: 'in' }],
      gaps: [],
      events: expect.arrayContaining([expect.objectContaining({ type: 'message' })]),
      summary: { ok: true },
      problems: [],
    });
  });

  test('says what is missing from a recording that was cut off, and shows the rest', async () => {
    rmSync(join(sandbox.path('r'), 'summary.json'));
    const events = join(sandbox.path('r'), 'events.jsonl');
    truncateSync(events, statSync(events).size - 10);
    const { code, stdout, stderr } = await sandbox.runHere(['inspect', 'r'], unicode);
    expect(code).toBe(0);
    expect(stderr).toBe(
      'The last line of events.jsonl is incomplete and was ignored\nThere is no summary.json: the recording is incomplete\n',
    );
    expect(stdout).toMatch(/^ai .*█/m);
    expect(stdout).toContain('No summary');
  });

  test('writes a page and a HAR that only the user can read', async () => {
    const ended = await sandbox.runHere(['inspect', 'r', '--html', 'p.html', '--har', 's.har']);
    expect(ended).toMatchObject({ code: 0, stdout: '', stderr: 'Wrote p.html\nWrote s.har\n' });
    expect(sandbox.read('p.html')).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
    const { log } = JSON.parse(sandbox.read('s.har'));
    expect(log.entries).toMatchObject([
      { request: { method: 'POST', postData: { text: '{"apiKey":"[redacted]","deviceId":"d1"}' } } },
      { request: { method: 'GET' }, response: { status: 101 } },
    ]);
    expect(log.entries[0].response.headers).toContainEqual({ name: 'x-ratelimit-limit', value: '60' });
    for (const file of ['p.html', 's.har']) expect(statSync(sandbox.path(file)).mode & 0o777).toBe(0o600);
  });

  test('control sequences in a recording are shown escaped', async () => {
    const events = join(sandbox.path('r'), 'events.jsonl');
    const line = JSON.stringify({
      t: 1,
      type: 'warning',
      code: 'x',
      message: '\u001b]52;c;aGk=\u0007\u202e',
    });
    writeFileSync(events, `${line}\n${readFileSync(events, 'utf8')}`);
    const { stdout } = await sandbox.runHere(['inspect', 'r'], unicode);
    expect(stdout).toContain('\\u001b]52;c;aGk=\\u0007\\u202e');
    expect(stdout).not.toMatch(/[\u001b\u0007\u202e]/);
  });

  test.each([
    ['a missing folder', 'missing', 2],
    ['a folder of other files', '.', 2],
  ])('refuses %s', async (_what, path, code) => {
    const ended = await sandbox.runHere(['inspect', path]);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toMatch(/^voicectl: Cannot read \S+: .+\n$/);
  });

  test('a page that cannot be written is an output failure', async () => {
    const ended = await sandbox.runHere(['inspect', 'r', '--html', 'missing/p.html']);
    expect(ended.code).toBe(8);
  });
});

describe('inspect of a stereo WAV', () => {
  /** A conversation with a barge-in: the contents of `--expect-file`, on the clock of the session. */
  const record = async () => {
    const flags = [
      '--expect-file',
      join(import.meta.dirname, '../../examples/conversation.yaml'),
      '--record',
      'c',
    ];
    const { code } = await sandbox.runHere(['stream', '--local', ...flags]);
    expect(code).toBe(0);
  };
  const dialogueOf = async (...flags: string[]) => {
    const { code, stdout } = await sandbox.runHere(['inspect', ...flags, '--json']);
    expect(code).toBe(0);
    return JSON.parse(stdout).dialogue;
  };

  test('has the same figures as the recording, and with --swap those of the other side', async () => {
    await record();
    const { rules, ...dialogue } = await dialogueOf('c');
    expect(rules).toMatchObject({ stepMs: 5, turnPauseMs: 700 });
    expect(dialogue).toMatchObject({
      unjudged: null,
      turns: [
        { interruption: null, reply: 'answered', earlyMs: null },
        { interruption: 'yielded', reply: 'answered', yieldMs: expect.any(Number) },
      ],
      noises: [],
      figures: { responseMs: { count: 2 }, yieldMs: { count: 1 }, unanswered: 0 },
    });
    const { overlapMs, talkOverMs } = dialogue.figures;
    expect(overlapMs).toBe(talkOverMs);
    expect(overlapMs).toBeGreaterThan(0);
    // A WAV has no script: only its figures are the same.
    expect(await dialogueOf('c/both.wav')).toMatchObject({ rules, figures: dialogue.figures });
    const swapped = await dialogueOf('c/both.wav', '--swap');
    expect(swapped.figures).toMatchObject({ overlapMs, talkShare: { user: dialogue.figures.talkShare.ai } });

    const { stdout } = await sandbox.runHere(['inspect', 'c/both.wav'], unicode);
    expect(stdout).toMatch(/^both +▒+/m);
    // Without a script, a sound that stops the AI may not be a turn.
    expect(stdout).toMatch(/^events +\?y/m);
    expect(stdout).toMatch(/^yield +\d+ ms$/m);
    expect(stdout).not.toMatch(/summary|incomplete/);
    await sandbox.runHere(['inspect', 'c/both.wav', '--html', 'call.html']);
    expect(sandbox.read('call.html')).toMatch(/both\.wav/);
  });

  test('has the same figures as the session and its recording, even if the service sends ahead', async () => {
    const wav = (name: string) => fixture(`${name}.wav`);
    const reply = sandbox.write(
      'ahead.mjs',
      `import { readFileSync } from 'node:fs';
const answer = readFileSync(${JSON.stringify(wav('answer'))}).subarray(44);
export function createReply(voice) {
  let heard = 0;
  return {
    hear(pcm) {
      // It replies after 3 s and 8 s of audio, each reply all at once, and drops the first after 4 s.
      const [before, now] = [heard, (heard += pcm.length)];
      const passes = (ms) => before < 32 * ms && now >= 32 * ms;
      if (passes(3_000) || passes(8_000)) voice.send(answer);
      if (passes(4_000)) voice.message({ type: 'interrupted' });
    },
  };
}
`,
    );
    const talk = sandbox.write(
      'talk.yaml',
      `turns: [{ say: ${wav('hello')} }, { say: ${wav('barge-in')}, when: { after: 1300ms } }]\n`,
    );
    const flags = ['--reply', `module:${reply}`, '--expect-file', talk, '--record', 'a', '--json'];
    // It has no clock of its own: it counts the audio that it hears.
    const clock = createManualClock(Date.now());
    const { code, stdout } = await sandbox.runHere(['stream', '--local', ...flags], { clock });
    expect(code).toBe(0);
    const { figures } = (only(jsonLines(stdout), 'summary') as unknown as { dialogue: Dialogue }).dialogue;
    expect(figures).toMatchObject({ responseMs: { count: 2 }, yieldMs: { count: 1 } });
    expect((await dialogueOf('a')).figures).toEqual(figures);
    expect((await dialogueOf('a/both.wav')).figures).toEqual(figures);
  });

  test('reads any rate, and judges a mono WAV as the voice of the AI', async () => {
    const silence = Buffer.alloc(4 * 44_100);
    const header = makeWavHeader({ ...wireFormat, sampleRate: 44_100, channels: 2 }, silence.length);
    writeFileSync(sandbox.path('s.wav'), Buffer.concat([header, silence]));
    expect(await dialogueOf('s.wav')).toMatchObject({
      turns: [],
      figures: { responseMs: null, talkShare: null },
    });
    const ended = await sandbox.runHere(['inspect', fixture('hello.wav')]);
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^voice +speech -\d+/m) });
    const swapped = await sandbox.runHere(['inspect', fixture('hello.wav'), '--swap']);
    expect(swapped).toMatchObject({ code: 2, stderr: expect.stringContaining('--swap needs 2') });
  });
});

test('a recording has no channels to swap', async () => {
  const ended = await sandbox.runHere(['inspect', '.', '--swap']);
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('--swap is for a stereo WAV') });
});

test('a WAV has no exchanges to write as HAR', async () => {
  const ended = await sandbox.runHere([
    'inspect',
    fixture('hello.wav'),
    '--html',
    'y.html',
    '--har',
    'y.har',
  ]);
  expect(ended).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('no exchanges for --har'),
  });
  expect([existsSync(sandbox.path('y.har')), existsSync(sandbox.path('y.html'))]).toEqual([false, false]);
});

test('a recording becomes an editable scenario that serve plays, with its words and replies', async () => {
  const stream = [
    ...['stream', '--file', fixture('barge-in.wav'), '--device', 'd2'],
    ...['--wait', '3s', '--settle', '1s'],
  ];
  const first = await sandbox.runHere([...stream, '--local', '--record', 's', '--json']);
  expect(first.code).toBe(0);
  const made = await sandbox.runHere(['inspect', 's', '--scenario-out', 'made/again.yaml']);
  expect(made).toMatchObject({ code: 8, stderr: expect.stringContaining('made') });
  const written = await sandbox.runHere(['inspect', 's', '--scenario-out', 'again.yaml']);
  expect(written).toMatchObject({ code: 0, stdout: '' });
  const text = sandbox.read('again.yaml');
  expect(text).toMatch(/when: speech-end\n {4}do:/);
  expect(text).toContain('say: again-1.wav');
  expect(statSync(sandbox.path('again-1.wav')).size).toBeGreaterThan(16_000);
  // Both use one clock, which is moved.
  const clock = createManualClock(Date.now());
  const { baseUrl } = await sandbox.serveHere(['--scenario', sandbox.path('again.yaml')], { clock });
  const again = [...stream, '--base-url', baseUrl, '--expect-audio', '--json'];
  const second = await sandbox.runHere(again, { clock });
  const statuses = (stdout: string) =>
    jsonLines(stdout)
      .filter(({ type, category }) => type === 'message' && category === 'status')
      .map(({ body }) => (body as { status: string }).status);
  expect(statuses(second.stdout)).toEqual(statuses(first.stdout));
  expect(second.code).toBe(0);
});

test('the WAVs of a scenario are private; only its own are replaced, and no link is followed', async () => {
  const make = (file: string) => sandbox.runHere(['inspect', 'r', '--scenario-out', file]);
  expect(await make('own.yaml')).toMatchObject({ code: 0 });
  const wav = readFileSync(sandbox.path('own-1.wav'));
  expect(statSync(sandbox.path('own-1.wav')).mode & 0o777).toBe(0o600);
  sandbox.write('own-1.wav', 'edited');
  expect(await make('own.yaml')).toMatchObject({ code: 0 });
  expect(readFileSync(sandbox.path('own-1.wav'))).toEqual(wav);

  const refused = { code: 8, stderr: expect.stringMatching(/Cannot write .*-1\.wav: it already exists/) };
  sandbox.write('mine-1.wav', 'mine');
  expect(await make('mine.yaml')).toMatchObject(refused);
  expect(existsSync(sandbox.path('mine.yaml'))).toBe(false);
  // Somebody's own scenario uses their own WAV.
  sandbox.write('mine.yaml', 'steps: [{ when: connected, do: [{ say: mine-1.wav }] }]\n');
  expect(await make('mine.yaml')).toMatchObject(refused);
  expect([sandbox.read('mine-1.wav'), sandbox.read('mine.yaml')]).toEqual([
    'mine',
    expect.stringContaining('mine-1.wav'),
  ]);
  rmSync(sandbox.path('own-1.wav'));
  symlinkSync('mine-1.wav', sandbox.path('own-1.wav'));
  expect(await make('own.yaml')).toMatchObject(refused);
  symlinkSync('nowhere', sandbox.path('other-1.wav'));
  expect(await make('other.yaml')).toMatchObject(refused);
  expect([sandbox.read('mine-1.wav'), existsSync(sandbox.path('nowhere'))]).toEqual(['mine', false]);
});

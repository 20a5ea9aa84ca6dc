import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runInProcess } from '../helpers/in-process.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { fixture, jsonLines, only, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const message = /^voicectl: .+\n( {2}.+\n){0,2}$/;
const example = join(import.meta.dirname, '..', '..', 'examples', 'conversation.yaml');

const converse = (flags: readonly string[], input?: string) =>
  sandbox.runHere(['stream', '--local', ...flags, '--json'], input === undefined ? {} : { input });
const verdicts = (stdout: string) =>
  (
    only(jsonLines(stdout), 'summary') as unknown as {
      verdicts: { name: string; ok: boolean; kind?: string }[];
    }
  ).verdicts;

/** A conversation file with its sounds beside it. */
function write(text: string): string {
  copyFileSync(fixture('barge-in.wav'), sandbox.path('hi.wav'));
  return sandbox.write('c.yaml', text);
}

describe('--expect-file', () => {
  test('runs the example: a question, and an interruption of the reply', async () => {
    const { code, stdout, stderr } = await converse([
      '--expect-file',
      example,
      '--junit',
      'j.xml',
      '--record',
      'c',
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(verdicts(stdout)).toEqual(
      [
        'turn 1 (greeting): said',
        'turn 1 (greeting): expect-audio',
        'turn 1 (greeting): max-first-audio',
        'turn 1 (greeting): expect event',
        'turn 1 (greeting): absent event',
        'turn 2 (barge-in): said',
        'turn 2 (barge-in): expect silence',
        'expect-close',
      ].map((name) => expect.objectContaining({ name, ok: true })),
    );
    expect(sandbox.read('j.xml')).toContain('<testcase name="turn 2 (barge-in): said: during the reply');
    expect(sandbox.read('j.xml')).toContain('tests="9" failures="0" errors="0"');
    // The AI falls silent when it is interrupted, which does not count as a gap.
    expect(jsonLines(stdout).filter(({ type }) => type === 'gap')).toEqual([]);
    const inspected = await sandbox.runHere(['inspect', 'c', '--html', 'c.html']);
    expect(inspected.stdout).not.toContain('gap (');
    expect(sandbox.read('c.html')).toContain('no gap in a reply');
  });

  test('fails if the AI cannot be interrupted', async () => {
    const path = write(`turns:
  - say: hi.wav
  - say: hi.wav
    when: { during-reply: 300ms }
    expect: [{ silence: 300ms, within: 500ms }]
`);
    // It speaks a sentence of several seconds, at the pace of what it hears.
    const deaf = sandbox.write(
      'deaf.js',
      `export function createReply(voice) {
  const frame = Buffer.alloc(640, Buffer.from([0, 32, 0, 224]));
  let heard = 0;
  let said = 0;
  return {
    hear(pcm) {
      heard += pcm.length;
      if (heard < 50_000 || said === 250) return;
      voice.send(frame);
      said += 1;
    },
  };
}
`,
    );
    const flags = ['--local', '--expect-file', path, '--reply', `module:${deaf}`, '--json'];
    const clock = createManualClock(Date.now());
    const { code, stderr, stdout } = await runInProcess(['stream', ...flags], { clock });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(message) });
    expect(verdicts(stdout).filter(({ ok }) => !ok)).toMatchObject([{ kind: 'not-interrupted' }]);
  });

  test('is judged together with the flags, which take precedence', async () => {
    const path = write(
      'turns: [{ say: hi.wav }]\nexpect-close: 1001\nexpect-event: [transcript]\nmax-first-audio: 1ms\n',
    );
    const flags = ['--expect-close', '1000', '--max-first-audio', '9s', '--expect-audio', '--reply', 'echo'];
    const { code, stdout } = await converse(['--expect-file', path, ...flags]);
    expect(code).toBe(1);
    expect(verdicts(stdout)).toMatchObject([
      { name: 'turn 1: said', ok: true },
      { name: 'expect-audio', ok: true },
      { name: 'max-first-audio', ok: true, expected: 'at most 9000 ms' },
      { name: 'expect-event', ok: false, kind: 'missing-event' },
      { name: 'expect-close', ok: true },
    ]);
  });

  test('may come from standard input, with its clips in the working folder', async () => {
    write('');
    const { code } = await converse(['--expect-file', '-', '--reply', 'echo'], 'turns: [{ say: hi.wav }]');
    expect(code).toBe(0);
  });

  test('may use a command to speak a text, and expect words similar to another text', async () => {
    sandbox.write('speak.sh', '#!/bin/sh\ncp hi.wav "$1"\n');
    const path = write(`turns:
  - say: { text: "what time is it", by: [sh, ./speak.sh, "{wav}", "{text}"] }
    expect:
      - { event: transcript, where: { text: { like: "It is half past nine!", wer: 0.2 } } }
      - { event: transcript, where: { text: { like: "it is half past ten", wer: 0.1 } } }
`);
    const scenario = sandbox.write(
      's.yaml',
      'steps:\n  - when: speech-end\n    do:\n      - send: { type: transcript, text: it is half past nine }\n',
    );
    const env = { XDG_CACHE_HOME: sandbox.path('cache'), PATH: process.env.PATH ?? '' };
    const flags = ['--local', '--scenario', scenario, '--expect-file', path, '--wait', '5s', '--json'];
    const clock = createManualClock(Date.now());
    const { code, stdout } = await runInProcess(['stream', ...flags], { env, clock });
    expect({ code, failed: verdicts(stdout).filter(({ ok }) => !ok) }).toMatchObject({
      code: 1,
      failed: [{ kind: 'wrong-field', measured: expect.stringContaining('(word error rate 0.20)') }],
    });
  });

  test('can be run several times', async () => {
    const path = write('turns: [{ say: hi.wav, expect-audio: 0 }]\n');
    const flags = ['--expect-file', path, '--reply', 'echo', '--repeat', '2', '--html', 'several.html'];
    const { code, stdout } = await converse(flags);
    expect(code).toBe(0);
    const total = only(jsonLines(stdout), 'summary');
    const page = sandbox.read('several.html');
    expect(page).toMatch(/<h2>Measured<\/h2>[\s\S]*held in 2 of 2 runs/);
    expect(page).toContain(`${(Number(total.elapsedMs) / 1000).toFixed(1)} s`);
    expect(total).toMatchObject({
      passed: 2,
      verdicts: [{ name: 'turn 1: said' }, { name: 'turn 1: expect-audio', measured: '2 of 2 runs' }],
    });
  });

  test('several runs show no escape sequence of a name', async () => {
    const path = write('turns: [{ name: "\\e[2J", say: hi.wav, expect-audio: 0 }]\n');
    const { stdout } = await sandbox.runHere([
      ...['stream', '--local', '--reply', 'echo', '--expect-file', path, '--repeat', '2'],
    ]);
    expect(stdout).toMatch(/turn 1 \(\\u001b\[2J\): expect-audio +pass: expected .*, held in 2 of 2 runs/);
  });

  test.each([
    ['a missing clip', 'turns:\n  - say: no.wav\n', 'c.yaml:2:10: turns.0.say: Cannot read'],
    ['a clip that is not a WAV', 'turns:\n  - say: c.yaml\n', 'c.yaml:2:10: turns.0.say: Cannot read'],
    [
      'a command that cannot speak',
      'turns:\n  - say: { text: hi, by: [./mute, "{wav}"] }\n',
      'c.yaml:2:10: turns.0.say: The speech command failed: it cannot run',
    ],
    ['an unknown key', 'turns:\n  - sya: hi.wav\n', 'c.yaml:2:5: turns.0.sya: no such setting'],
    [
      'a bad duration',
      'turns:\n  - max-gap: soon\n',
      'c.yaml:2:14: turns.0.max-gap: "soon", expected a duration',
    ],
    ['no turns', 'turns: []\n', 'c.yaml:1:8: turns: (a list), expected'],
    ['an empty file', '', 'c.yaml:1:1: turns: missing, expected array'],
    [
      'a bad moment',
      'turns:\n  - when: later\n',
      'c.yaml:2:11: turns.0.when: "later", expected one of "connected"',
    ],
    [
      'a late connection',
      'turns:\n  - say: hi.wav\n  - when: connected\n',
      'c.yaml:3:11: turns.1.when: only the first turn',
    ],
    [
      'a bad expression',
      'turns:\n  - expect: [{ event: a, where: { b: { matches: "(" } } }]\n',
      'c.yaml:2:49: turns.0.expect.0.where.b.matches: "(", expected a regular expression',
    ],
    [
      'nothing to expect',
      'turns:\n  - expect: [{ within: 1s }]\n',
      'c.yaml:2:14: turns.0.expect.0.audio: missing',
    ],
    ['a bad close code', 'turns: [{}]\nexpect-close: 7\n', 'c.yaml:2:15: expect-close: 7, expected'],
    ['broken YAML', 'turns: [\n', 'c.yaml:'],
  ])('with %s is refused before anything starts: exit 2, with line and column', async (_what, text, why) => {
    write(text);
    const serve = await sandbox.serveHere();
    const ended = await sandbox.runHere(['stream', '--expect-file', 'c.yaml', '--base-url', serve.baseUrl]);
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(message),
    });
    expect(ended.stderr).toContain(why);
    expect(serve.stdout).not.toContain('token-issued');
  });

  test.each([
    ['a file to stream', ['--file', 'hi.wav']],
    ['an end that never comes', ['--loop']],
    ['a pace that leaves no time', ['--pace', 'max']],
  ])('with %s makes no sense: exit 2', async (_what, flags) => {
    const path = write('turns: [{ say: hi.wav }]\n');
    const { code, stderr } = await converse(['--expect-file', path, ...flags]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
  });
});

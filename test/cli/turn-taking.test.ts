import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runInProcess } from '../helpers/in-process.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { fixture, jsonLines, only, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const examples = join(import.meta.dirname, '..', '..', 'examples');
const example = join(examples, 'turn-taking.yaml');
const attentive = join(examples, 'dialects', 'attentive.yaml');

interface Summary {
  failure: { kind: string } | null;
  verdicts: { name: string; ok: boolean; kind?: string; measured: string }[];
}

/** Runs a conversation with a service that can tell a cough from a turn, on a moved clock. */
async function converse(file: string, fault?: string, reply = 'question') {
  const service = ['--local', '--dialect', attentive, '--reply', `file:${fixture(`${reply}.wav`)}`];
  const faults = fault === undefined ? [] : ['--fault', fault];
  const clock = createManualClock(Date.now());
  const { code, stdout } = await runInProcess(
    ['stream', ...service, ...faults, '--expect-file', file, '--wait', '4s', '--settle', '700ms', '--json'],
    { clock },
  );
  const { failure, verdicts } = only(jsonLines(stdout), 'summary') as unknown as Summary;
  const failed = verdicts.filter(({ ok }) => !ok);
  return { code, kind: failure?.kind, failed, kinds: [...new Set(failed.map(({ kind }) => kind))] };
}

const say = (name: string) => fixture(`${name}.wav`);
const write = (text: string) => sandbox.write('c.yaml', text);

const conversations = {
  'a cough in a reply': `turns:
  - say: ${say('hello')}
  - { say: ${say('cough')}, when: { during-reply: 500ms }, expect: [{ hold: 1s }] }
`,
  'a cough after a reply': `turns:
  - say: ${say('hello')}
  - { say: ${say('cough')}, expect: [{ hold: 1s }] }
`,
  'a cough before a reply': `turns:
  - say: ${say('hello')}
  - { say: ${say('cough')}, when: { after: 100ms }, expect: [{ hold: 1s }] }
`,
  'an interruption': `turns:
  - say: ${say('hello')}
  - { say: ${say('barge-in')}, when: { during-reply: 500ms }, max-yield: 900ms, max-talk-over: 900ms }
`,
  'a long interruption': `turns:
  - say: ${say('hello')}
  - { say: ${say('question')}, when: { during-reply: 500ms }, max-yield: 900ms, max-talk-over: 900ms }
`,
  'two turns': `turns:
  - { say: ${say('hello')}, max-response: 2s }
  - { say: ${say('hello')}, max-response: 2s }
`,
} as const;

describe('a service that takes turns', () => {
  test('passes the example: a cough, the "mhm" of a listener, and an interruption', async () => {
    expect(await converse(example)).toMatchObject({ code: 0, failed: [] });
  });

  test.each(['a cough in a reply', 'a cough after a reply', 'a cough before a reply'] as const)(
    'passes %s',
    async (what) => {
      expect(await converse(write(conversations[what]))).toMatchObject({ code: 0, failed: [] });
    },
  );

  test.each([
    ['false-interruption', 'a cough in a reply', ['false-interruption']],
    ['answers-noise', 'a cough after a reply', ['answers-noise']],
    ['reply-lost', 'a cough before a reply', ['no-reply']],
    ['slow-yield:by=500ms', 'an interruption', ['slow-yield'], 1_050],
    ['never-yields', 'a long interruption', ['slow-yield', 'talk-over']],
    ['early-reply:by=600ms,skip=1', 'two turns', ['early-reply'], 600],
  ] as const)(
    'with %s fails %s with the right kind',
    async (fault, conversation, kinds, figureMs?: number) => {
      const { code, kind, kinds: found, failed } = await converse(write(conversations[conversation]), fault);
      expect({ code, kind, found }).toEqual({ code: 1, kind: kinds[0], found: kinds });
      const measuredMs = Number.parseInt(failed[0]?.measured ?? '', 10);
      if (figureMs !== undefined) expect(Math.abs(measuredMs - figureMs)).toBeLessThan(150);
    },
  );

  test('fails limits that are too strict', async () => {
    const limits = 'max-response: 300ms\nmax-yield: 300ms\nmax-talk-over: 300ms\n';
    const found = await converse(write(conversations['an interruption'] + limits));
    expect(found).toMatchObject({ code: 1, kinds: ['slow-response', 'slow-yield', 'talk-over'] });
  });
});

test('a proxy produces those that it can, and refuses the rest: exit 2, with the reason', async () => {
  const { baseUrl } = await sandbox.serveHere();
  for (const fault of ['slow-yield', 'never-yields', 'early-reply', 'answers-noise']) {
    const { code, stderr } = await sandbox.runHere([
      'proxy',
      '--target',
      baseUrl,
      '--port',
      '0',
      '--fault',
      fault,
    ]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(new RegExp(`A proxy cannot produce ${fault}: .{20}`)),
    });
  }
});

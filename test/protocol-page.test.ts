import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Dialect, defaultDialect, dialectSchema } from '../src/protocol/dialect.ts';
import { createSchemaPlaces } from '../src/protocol/schema-places.ts';
import { serviceRules } from '../src/rules/catalogue.ts';
import { readExamples } from './helpers/doc-examples.ts';
import { hasForeignClient } from './helpers/foreign-client.ts';
import { fixture, fixturePcm, setUpSandbox } from './helpers/voicectl.ts';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs', 'PROTOCOL.md'), 'utf8');

/** The headings of the service's specification. */
const sections = [
  'What the service does',
  'Resources and their fields',
  'Token request (JSON body)',
  'Token response (JSON body)',
  'JWT claims',
  'Audio format (both directions)',
  'Error body',
  'States and transitions',
  'Endpoints',
  'POST /api/websocket-voice/token',
  'WSS /voice-stream',
  'Authentication',
  'Events',
  'Errors',
  'Limits',
  'Versioning',
];

interface Sentence {
  line: string;
  /** Sections of the specification. */
  cited: string[];
  /** What the choice is made by. */
  choices: string[];
}

/** Each sentence of the page, which is an item of a list or a row of a table, with its sources. */
const sentences = page
  .slice(0, page.indexOf('\n## A client'))
  .replaceAll(/^```\w+\n[\s\S]*?^```$/gm, '')
  .split('\n')
  .filter((line) => /^(-|\d+\.|\|) /.test(line) && !/^\| (---|.* \| from \|$)/.test(line))
  .map((line): Sentence => {
    const [, from, sources = ''] =
      /(?: \(|\| )(Specification|choice of the emulator): (.+)(?:\)| \|)$/.exec(line) ?? [];
    const isCited = from === 'Specification';
    return {
      line,
      cited: isCited ? sources.split('; ') : [],
      choices: from === undefined || isCited ? [] : sources.split(', '),
    };
  });

/** The settings among the choices: `stream.replyFrameMs`. */
const settings = ({ choices }: Sentence) =>
  choices.map((choice) => /^`([\w.]+)`$/.exec(choice)?.[1]).filter((key) => key !== undefined);

describe('each sentence of docs/PROTOCOL.md', () => {
  test('has its source', () => {
    expect(sentences.length).toBeGreaterThan(90);
    const bare = sentences.filter(({ cited, choices }) => cited.length + choices.length === 0);
    expect(bare.map(({ line }) => line)).toEqual([]);
  });

  test('names sections that the specification has', () => {
    const cited = new Set(sentences.flatMap((sentence) => sentence.cited));
    expect([...cited].filter((name) => !sections.includes(name))).toEqual([]);
    expect(cited.size).toBeGreaterThan(10);
  });

  test('names settings that the dialect has, or says what else the choice is', () => {
    const places = createSchemaPlaces(dialectSchema);
    const exists = (path: readonly string[]) => places.keysAt(path.slice(0, -1)).includes(path.at(-1) ?? '');
    const unknown = sentences.flatMap(settings).filter((key) => !exists(key.split('.')));
    expect(unknown).toEqual([]);
    const others = sentences.flatMap(({ choices }) => choices.filter((choice) => !choice.startsWith('`')));
    expect([...new Set(others)].toSorted()).toEqual([
      'fixed',
      'flag `--accept-key`',
      'flag `--tls`',
      'option `pingEveryMs`',
    ]);
  });
});

test('rules name sections that the specification has', () => {
  const cited = serviceRules.map(({ section }) => section);
  expect(cited.filter((name) => !sections.includes(name))).toEqual([]);
});

/** The first cells of the row whose first setting is this one. */
const rowOf = (key: string, width: number) =>
  sentences
    .find((sentence) => sentence.line.startsWith('|') && settings(sentence)[0]?.startsWith(key) === true)
    ?.line.split(' | ', width)
    .map((cell) => cell.replaceAll(/^\| |`/g, ''));

const { refusals, stream }: Dialect = defaultDialect();

test.each(Object.entries(stream.closes))(
  'the page has the close %s as the emulator sends it',
  (cause, is) => {
    expect(rowOf(`stream.closes.${cause}`, 2)).toEqual([String(is.close), is.code]);
  },
);

test.each(Object.entries(refusals))('the page has the refusal %s as the emulator answers', (cause, is) => {
  const code = 'code' in is ? is.code : 'INVALID_REQUEST';
  expect(rowOf(`refusals.${cause}`, 2)).toEqual([String(is.status), code]);
});

describe('a client of docs/PROTOCOL.md streams a sound and saves the reply', () => {
  const sandbox = setUpSandbox();
  const clients = [
    ['python', 'client.py', '/usr/bin/python3', !hasForeignClient],
    ['js', 'client.mjs', `${process.execPath}' --import './patient.mjs`, false],
  ] as const;
  /** A busy machine may stall for as long as the silence after which the client ends, so it ends when its reply has ended. */
  const patient = `import { existsSync } from 'node:fs';
    const own = setTimeout;
    globalThis.setTimeout = (call, ms, ...rest) => {
      if (!(ms > 4_000 && ms < 5_000)) return own(call, ms, ...rest);
      const timer = setInterval(() => {
        if (!existsSync('heard')) return;
        clearInterval(timer);
        call();
      }, 10);
      return Object.assign(timer, { refresh: () => timer });
    };`;

  for (const [language, file, command, isMissing] of clients) {
    const why = isMissing ? ' (skipped: no python3-websockets)' : '';
    test.skipIf(isMissing)(`in ${language}${why}`, { timeout: 60_000 }, async () => {
      const [example, ...others] = readExamples(page).filter((one) => one.language === language);
      const code = example?.code ?? '';
      expect(others).toEqual([]);
      expect(code.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(20);
      sandbox.write(file, code);
      sandbox.write('patient.mjs', patient);
      symlinkSync(join(root, 'node_modules'), sandbox.path('node_modules'));
      const serve = await sandbox.serve();

      const call = `'${command}' ${file} ${serve.baseUrl} '${fixture('hello.wav')}' reply.pcm`;
      const called = sandbox.shell(call);
      await Promise.race([called, serve.line(/"reply-ended"/)]);
      sandbox.write('heard', '');
      expect(await called).toMatchObject({ code: 0, stderr: '' });

      const closed = JSON.parse(await serve.line(/"stream-closed"/));
      const sent = fixturePcm('hello.wav');
      expect(closed).toMatchObject({ code: 1000, bytesIn: sent.length });
      // A busy machine sends late, and then faster.
      expect(closed.remarks.filter((one: string) => !/^a gap of|in bursts|× real time/.test(one))).toEqual(
        [],
      );
      // The parrot repeats what was said, without the silence around it.
      const reply = readFileSync(sandbox.path('reply.pcm'));
      expect(reply.length).toBe(closed.bytesOut);
      expect(reply.length).toBeGreaterThan(sent.length / 2);
      expect(sent.includes(reply)).toBe(true);
    });
  }
});

import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { setUpEmulators } from './helpers/emulators.ts';
import { hastyClock } from './helpers/hasten.ts';
import { type Ended, jsonLines, setUpSandbox } from './helpers/voicectl.ts';

const sandbox = setUpSandbox();
const start = setUpEmulators();
const root = join(import.meta.dirname, '..');
const example = (name: string) => readFileSync(join(root, 'examples', 'ci', name), 'utf8');

interface GithubJob {
  env?: Record<string, string>;
  steps: { run?: string; env?: Record<string, string>; with?: { path?: string } }[];
}
const { jobs } = parse(example('github-actions.yml')) as { jobs: Record<string, GithubJob> };
const { 'voice-smoke-test': gitlab } = parse(example('gitlab-ci.yml')) as Record<
  string,
  { script: string[]; artifacts: { paths: string[]; reports: { junit: string } } }
>;

/**
 * What a pipeline has: a checkout, npm, and an `npx` that runs what is installed. Here both are stand-ins: they accept
 * the same arguments, and run this program.
 */
function checkOut(): void {
  for (const part of ['examples', 'fixtures']) symlinkSync(join(root, part), sandbox.path(part));
  sandbox.write('npm', npm, 0o755);
  sandbox.write('npx', npx, 0o755);
}
const npm = `#!/bin/sh
[ "$*" = "ci --ignore-scripts" ] || { echo "npm $*" >&2; exit 99; }
`;
const npx = `#!/bin/sh
[ "$1 $2 $3" = "--no -- voicectl" ] || { echo "npx $*" >&2; exit 99; }
shift 3
exec voicectl "$@"
`;

/** Runs a script as a CI runner does: with its own shell, or else with a bash that ends at the first failing command. */
async function runStep(script: string, env: Record<string, string>): Promise<Ended> {
  checkOut();
  const path = sandbox.write('step.sh', script);
  const shell = script.startsWith('#!') ? 'sh' : 'bash --noprofile --norc -eo pipefail';
  const line = `PATH="$PWD:$PATH" exec ${shell} ${path}`;
  return sandbox.shellHere(line, { env, clock: hastyClock });
}

const summaries = () => jsonLines(sandbox.read('session.jsonl')).filter(({ type }) => type === 'summary');
const nobody = {
  VOICECTL_BASE_URL: 'http://127.0.0.1:9',
  VOICECTL_API_KEY: 'key-of-ci',
  VOICE_RETRY_SECONDS: '0',
};

const pipelines: [name: string, script: string, artifacts: string[], runs: number][] = [
  [
    'github-actions.yml',
    Object.values(jobs)
      .flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []))
      .join('\n'),
    Object.values(jobs).flatMap(({ steps }) => steps.flatMap((step) => step.with?.path?.split('\n') ?? [])),
    3,
  ],
  [
    'gitlab-ci.yml',
    gitlab?.script.join('\n') ?? '',
    [...(gitlab?.artifacts.paths ?? []), gitlab?.artifacts.reports.junit ?? ''],
    1,
  ],
  ['smoke-test.sh', example('smoke-test.sh'), ['junit.xml', 'session.jsonl'], 1],
];

describe.each(pipelines)('the pipeline of examples/ci/%s', (name, script, artifacts, runs) => {
  const env = name.startsWith('github')
    ? { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: 'step-summary.md' }
    : undefined;

  test('passes against a healthy service, and leaves the files that it names', async () => {
    const { baseUrl } = await start({ acceptKeys: ['key-of-ci'], clock: hastyClock });
    const ended = await runStep(script, {
      VOICECTL_BASE_URL: baseUrl,
      VOICECTL_API_KEY: 'key-of-ci',
      ...env,
    });
    expect({ code: ended.code, stdout: ended.stdout, stderr: ended.stderr }).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
    const files = artifacts.filter((path) => path !== '');
    expect(files.toSorted()).toEqual(['junit.xml', 'session.jsonl']);
    for (const file of files) expect(existsSync(sandbox.path(file))).toBe(true);
    expect(summaries()).toMatchObject([{ ok: true, ...(runs > 1 ? { runs, passed: runs } : {}) }]);
    expect(sandbox.read('junit.xml').match(/<testsuite /g)).toHaveLength(runs);
    if (env) expect(sandbox.read('step-summary.md')).toContain(`✅ voicectl stream conversation.yaml`);
  });

  test('fails with the exit code of the program if nobody answers, and leaves the same files', async () => {
    const ended = await runStep(script.replace('stream ', 'stream --retries 0 '), {
      ...nobody,
      ...env,
    });
    expect(ended.code).toBe(4);
    expect(ended.stderr).toContain('voicectl: ');
    expect(ended.stderr.includes('::error title=')).toBe(env !== undefined);
    expect(sandbox.read('junit.xml')).toContain('<error type="unreachable"');
    expect(summaries().at(-1)).toMatchObject({ ok: false, failure: { kind: 'unreachable' } });
    // The shell example gives an unreachable service a second chance.
    expect(ended.stderr.includes('Exit 4: trying again in 0 s')).toBe(name === 'smoke-test.sh');
  });
});

test('the GitHub example takes the key from the secrets, and only the step that runs the test has it', () => {
  const [job] = Object.values(jobs);
  const withKey = job?.steps.filter((step) => /secrets|api-key/i.test(JSON.stringify(step))) ?? [];
  expect(withKey).toMatchObject([
    {
      run: expect.stringContaining('voicectl stream'),
      env: { VOICECTL_API_KEY: expect.stringMatching(/^\$\{\{ secrets\.VOICE_API_KEY \}\}$/) },
    },
  ]);
  expect(job?.env).toBeUndefined();
});

test.each(pipelines)(
  'examples/ci/%s downloads no program: it runs the one that is installed',
  (_name, script) => {
    const calls = script.split('\n').filter((line) => /^\s*npx/.test(line));
    expect(calls).not.toEqual([]);
    for (const line of calls) expect(line).toMatch(/npx --no -- voicectl/);
  },
);

describe('the container file', () => {
  const lines = readFileSync(join(root, 'Dockerfile'), 'utf8').split('\n');

  test('copies files that exist', () => {
    const copied = lines.flatMap((line) => /^COPY (?!--from)(.*) \S+$/.exec(line)?.[1]?.split(' ') ?? []);
    expect(copied).toEqual(['package.json', 'package-lock.json', '.']);
    for (const path of copied) expect(existsSync(join(root, path))).toBe(true);
  });

  test('runs scripts of the package that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const used = lines.flatMap((line) => [...line.matchAll(/npm run (\S+)/g)].map(([, name = '']) => name));
    expect(used).toEqual(['executables']);
    for (const name of used) expect(scripts[name]).toBeDefined();
  });

  test('leaves files with secrets and generated files out of the context', () => {
    const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
    expect(ignored).toEqual(
      expect.arrayContaining(['.git', 'node_modules', 'dist', '.env*', 'voicectl.config.*']),
    );
  });
});

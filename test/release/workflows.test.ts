import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { platforms } from '../../release/platforms.js';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const workflows = readdirSync(join(root, '.github', 'workflows')).map((name) => `.github/workflows/${name}`);
const all = [...workflows, 'action.yml'];

interface Step {
  uses?: string;
  run?: string;
}
interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<string, { steps: Step[]; needs?: string | string[]; permissions?: Record<string, string> }>;
}
const readWorkflow = (path: string) => parse(read(path)) as Workflow;
const stepsOf = (path: string): Step[] =>
  path === 'action.yml'
    ? (parse(read(path)) as { runs: { steps: Step[] } }).runs.steps
    : Object.values(readWorkflow(path).jobs).flatMap(({ steps }) => steps);

type Reader = typeof import('@actions/workflow-parser') &
  typeof import('@actions/workflow-parser/actions/action-parser');

/** It imports JSON in a way that only bundlers accept. */
async function loadReader(): Promise<Reader> {
  const parts = ['@actions/workflow-parser', '@actions/workflow-parser/actions/action-parser'];
  const { outputFiles } = await build({
    stdin: { contents: parts.map((part) => `export * from '${part}';`).join(''), resolveDir: root },
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
    banner: { js: 'const require=process.getBuiltinModule;' },
  });
  const [code] = outputFiles;
  return import(`data:text/javascript;base64,${Buffer.from(code?.contents ?? []).toString('base64')}`);
}
const reader = await loadReader();

/** The errors that GitHub's own parser of these files reports. */
async function problemsOf(name: string, content: string): Promise<string[]> {
  const { NoOperationTraceWriter, parseAction, parseWorkflow, convertWorkflowTemplate } = reader;
  const trace = new NoOperationTraceWriter();
  const { context, value } =
    name === 'action.yml' ? parseAction({ name, content }, trace) : parseWorkflow({ name, content }, trace);
  if (value !== undefined && name !== 'action.yml') await convertWorkflowTemplate(context, value);
  return context.errors.getErrors().map(({ message }) => message);
}

describe('what runs on GitHub', () => {
  test.each(all)('%s is accepted by GitHub’s own parser', async (path) => {
    expect(await problemsOf(path, read(path))).toEqual([]);
  });

  test.each([
    ['ci.yml', 'on: push\njobs:\n  a:\n    runs-on: x\n    stepz: []\n', 'stepz'],
    [
      'ci.yml',
      `on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: \${{ nope( }}\n`,
      'end of expression',
    ],
    ['action.yml', 'name: a\ndescription: b\nruns:\n  using: composite\n  stepz: []\n', 'stepz'],
  ])('that parser finds mistakes in %s', async (name, content, word) => {
    expect((await problemsOf(name, content)).join('\n')).toContain(word);
  });

  test.each(all)('%s pins each action to a commit, with the version beside it', (path) => {
    const uses = [...read(path).matchAll(/uses: (\S+)(.*)/g)].map(([, action = '', comment = '']) => ({
      action,
      comment: comment.trim(),
    }));
    expect(uses).toHaveLength(stepsOf(path).filter(({ uses: used }) => used !== undefined).length);
    for (const { action, comment } of uses) {
      expect(action).toMatch(/^(actions|docker)\/[\w-]+@[0-9a-f]{40}$/);
      expect(comment).toMatch(/^# v\d+\.\d+\.\d+$/);
    }
  });

  test('each action is used at a single commit', () => {
    const used = all.flatMap(stepsOf).flatMap(({ uses }) => uses ?? []);
    const names = new Set(used.map((action) => action.split('@')[0]));
    expect(new Set(used).size).toBe(names.size);
  });

  test.each(all)('%s runs scripts that exist', (path) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    for (const { run = '' } of stepsOf(path)) {
      for (const [, name = ''] of run.matchAll(/npm run (?:--silent )?([\w:]+)/g))
        expect(scripts).toHaveProperty([name]);
      for (const [, file = ''] of run.matchAll(/(?:^|ACTION_PATH\/)([.\w/-]+(?:\.sh|\.ci\/run))/g))
        expect({ file, exists: existsSync(join(root, file)) }).toEqual({ file, exists: true });
    }
  });

  test.each(all)('%s passes no untrusted text to a shell', (path) => {
    // A value that somebody else chooses is passed to a script in its environment.
    for (const { run = '' } of stepsOf(path))
      expect(run).not.toMatch(/\$\{\{ *(github\.(event|head_ref|ref_name|actor)|inputs|secrets)/);
  });

  test.each(workflows)('%s has read-only permissions, except in jobs that say otherwise', (path) => {
    expect(readWorkflow(path).permissions).toEqual({ contents: 'read' });
  });
});

describe('ci.yml', () => {
  const { jobs } = readWorkflow('.github/workflows/ci.yml');

  test('runs .ci/run, and the tests without foreign tools on three systems and each Node', () => {
    expect(jobs.everything?.steps.map(({ run }) => run)).toContain('.ci/run');
    expect(jobs.portable).toMatchObject({
      strategy: {
        matrix: { os: ['ubuntu-latest', 'macos-latest', 'windows-latest'], node: [20, 22, 24, 26] },
      },
    });
    expect(jobs.portable?.steps.map(({ run }) => run)).toContain('npm run test:portable');
  });
});

describe('release.yml', () => {
  const { jobs } = readWorkflow('.github/workflows/release.yml');
  const text = read('.github/workflows/release.yml');

  test('publishes nothing before the tests are green', () => {
    for (const name of ['executables', 'image']) expect(jobs[name]?.needs).toBe('test');
    expect(jobs.package?.needs).toEqual(['test', 'executables', 'image']);
    expect(jobs.release?.needs).toEqual(['package', 'executables', 'image']);
  });

  test('publishes with provenance, from the repository that runs it', () => {
    expect(text).toContain('npm publish --provenance');
    expect(jobs.package?.permissions).toMatchObject({ 'id-token': 'write' });
    expect(text).toMatch(/REPOSITORY: \$\{\{ github\.server_url \}\}\/\$\{\{ github\.repository \}\}/);
  });

  test('builds and attests an executable for each platform, and one list of checksums', () => {
    const targets = [...text.matchAll(/targets: (.*)/g)].flatMap(([, names = '']) => names.split(' '));
    expect(targets.toSorted()).toEqual(Object.keys(platforms).toSorted());
    expect(text).toContain('attest-build-provenance@');
    expect(text).toContain('sha256sum voicectl-* > SHA256SUMS');
    expect(text).toContain('npm sbom --sbom-format cyclonedx');
  });
});

describe.skipIf(process.platform === 'win32')('action.yml', () => {
  const bytes = '#!/bin/sh\necho "ran: $*" "key: $' + '{VOICECTL_API_KEY-none}"\n';
  const hash = createHash('sha256').update(bytes).digest('hex');

  /** Runs a step of the action with a release of this executable, which `gh` would download. */
  function step(
    name: 'install' | 'run',
    env: Record<string, string>,
    sums = `${hash}  voicectl-linux-x64\n`,
  ) {
    const folder = mkdtempSync(join(tmpdir(), 'voicectl-action-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(join(folder, 'release'));
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'release', 'voicectl-linux-x64'), bytes, { mode: 0o755 });
    writeFileSync(join(folder, 'release', 'SHA256SUMS'), sums);
    const gh = `#!/bin/sh
echo "$*" >>${folder}/asked
while [ "$1" != --dir ]; do shift; done
cp ${folder}/release/* "$2"
`;
    writeFileSync(join(folder, 'bin', 'gh'), gh, { mode: 0o755 });
    const output = join(folder, 'output');
    const ended = spawnSync('bash', [join(root, 'release', 'action', `${name}.sh`)], {
      encoding: 'utf8',
      env: {
        PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
        RUNNER_TEMP: folder,
        GITHUB_OUTPUT: output,
        REPOSITORY: 'OWNER/voicectl',
        TARGET: 'Linux-X64',
        VERSION: '',
        WANTED: '',
        VOICECTL: join(folder, 'release', 'voicectl-linux-x64'),
        VOICECTL_API_KEY: '',
        ...env,
      },
    });
    const written = existsSync(output) ? readFileSync(output, 'utf8') : '';
    const asked = existsSync(join(folder, 'asked')) ? readFileSync(join(folder, 'asked'), 'utf8') : '';
    return { ...ended, written, asked };
  }

  test('installs the executable of the newest release, or of the named one', () => {
    const newest = step('install', {});
    expect(newest).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('ran: --version --verbose'),
    });
    expect(newest.written).toMatch(/^executable=.*\/voicectl-linux-x64\n$/);
    expect(newest.asked).toMatch(/^release download --repo OWNER\/voicectl /);
    expect(step('install', { VERSION: 'v0.2.0' }).asked).toMatch(/^release download v0\.2\.0 /);
    expect(step('install', { GITHUB_ACTION_PATH: root }).asked).toMatch(/^release download v\d+\.\d+\.\d+ /);
  });

  const zeros = `${'0'.repeat(64)}  voicectl-linux-x64\n`;
  test.each([
    ['a checksum that differs from that of the release', {}, zeros, 'not what it should be'],
    [
      'a checksum that differs from the given one',
      { WANTED: 'f'.repeat(64) },
      undefined,
      'not what it should be',
    ],
    ['no checksum', {}, '', 'SHA256SUMS has no checksum'],
    ['a runner that has no executable', { TARGET: 'Linux-RISCV64' }, undefined, 'no executable for Linux'],
  ])('refuses one with %s, and runs nothing of it', (_what, env, sums, message) => {
    const { status, stdout, written } = step('install', env as Record<string, string>, sums);
    expect({ status, written }).toEqual({ status: 2, written: '' });
    expect(stdout).toContain('::error title=voicectl::');
    expect(stdout).toContain(message);
    expect(stdout).not.toContain('ran:');
  });

  test('runs the command with one argument per line, whatever the line contains', () => {
    const args = '--file\nmy hello.wav\n\n--device\n$(touch /tmp/x) "y"\n';
    const { status, stdout } = step('run', { COMMAND: 'stream', ARGS: args });
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: 'ran: stream --file my hello.wav --device $(touch /tmp/x) "y" key: none\n',
    });
    const { stdout: withKey } = step('run', { COMMAND: 'check', ARGS: '', VOICECTL_API_KEY: 'k1' });
    expect(withKey).toBe('ran: check key: k1\n');
  });

  test('refuses other commands', () => {
    const { status, stdout } = step('run', { COMMAND: 'serve', ARGS: '' });
    expect({ status, stdout }).toEqual({
      status: 2,
      stdout: expect.stringContaining('stream, check or exec'),
    });
  });
});

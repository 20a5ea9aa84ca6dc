import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { describe, expect, type TestContext, test } from 'vitest';
import { parse } from 'yaml';
import { startEmulatorFor } from './helpers/emulators.ts';
import { freePort } from './helpers/free-port.js';
import { type Sandbox, sandboxFor } from './helpers/voicectl.ts';

const folder = join(import.meta.dirname, '..', 'examples', 'load');
const locustfile = join(folder, 'locustfile.py');

const { status, stdout: found } = spawnSync('sh', ['-c', 'command -v locust'], { encoding: 'utf8' });
const hasLocust = status === 0;
if (!hasLocust) console.warn('Skipped: Locust is not installed (apt-get install python3-locust)');

/**
 * Starts a Locust master and two workers as separate processes, as on three machines. Loading Locust takes longest
 * and is done once, before they fork. It ends with the exit code of the master.
 */
const parting = `
import os, shlex, sys
from locust.main import main
def start(flags):
    pid = os.fork()
    if pid == 0:
        os.dup2(1, 2)
        sys.argv = ["locust", "-f", sys.argv[1]] + shlex.split(flags)
        sys.exit(main())
    return pid
port = sys.argv[2]
master = start(f"--headless --only-summary -u 1 --master --master-bind-port {port} --expect-workers 2")
workers = [start(f"--worker --master-port {port}") for _ in range(2)]
print("workers", *workers, flush=True)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(master, 0)[1]))
`;

async function startLocust(context: TestContext, load: string) {
  const sandbox = sandboxFor(context);
  await sandbox.standIn();
  const { baseUrl } = await startEmulatorFor(context, { reply: 'silence' });
  const env = {
    VOICECTL: 'voicectl',
    VOICECTL_LOAD: `--processes none --base-url ${baseUrl} ${load}`,
    VOICECTL_MERGE: `--threshold failed<1 --out ${sandbox.path('merged.json')}`,
    VOICECTL_LEAD: '4',
    PYTHONDONTWRITEBYTECODE: '1',
    PATH: `${sandbox.path('bin')}:${process.env.PATH}`,
  };
  sandbox.write('parting.py', parting);
  const [, python = ''] = /^#!(.*)\n/.exec(readFileSync(found.trim(), 'utf8')) ?? [];
  const script = `exec ${python} parting.py ${locustfile} ${await freePort()}`;
  return { locust: sandbox.startShell(script, { env }), sandbox };
}

const mergedOf = (sandbox: Sandbox) => JSON.parse(sandbox.read('merged.json'));

describe.skipIf(!hasLocust).concurrent('the Locust file', { timeout: 120_000 }, () => {
  test('fits on a page', () => {
    expect(readFileSync(locustfile, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(100);
  });

  test('starts both workers at the same moment, and ends with the exit code of the merged result', async (context) => {
    const { locust, sandbox } = await startLocust(context, '--sessions 6 --task tokens --seed 1');
    const { code, stdout } = await locust.ended;
    expect(stdout).toContain('6 arrived, 6 confirmed, 6 done');
    expect(mergedOf(sandbox)).toMatchObject({ shards: { has: [1, 2], of: 2 }, counts: { arrived: 6 } });
    // On a busy machine six requests are enough for some to be late: then the result says so.
    expect(code).toBe(stdout.includes('INVALID') ? 9 : 0);
  });

  test('reports a lost worker, keeps the rest, and ends with 9', async (context) => {
    const { locust, sandbox } = await startLocust(context, '--sessions 6 --task listen --hold 2s');
    const [, worker = ''] = (await locust.line(/^workers \d+ \d+$/)).split(' ');
    await locust.line(/load {5}http/);
    process.kill(Number(worker), 'SIGKILL');
    const { code, stdout } = await locust.ended;
    expect(stdout).toMatch(/Worker \S+ was lost with shard \d\/2/);
    expect(mergedOf(sandbox).shards.has).toHaveLength(1);
    // On a busy machine one may be too late to be sent: that is counted too.
    const { arrived, confirmed, dropped } = mergedOf(sandbox).counts;
    expect(arrived + dropped).toBe(3);
    expect(confirmed).toBe(arrived);
    expect(code).toBe(9);
  });
});

describe('the Kubernetes Job', () => {
  const read = () => parse(readFileSync(join(folder, 'kubernetes-job.yaml'), 'utf8'));
  const { spec } = read();
  const [container] = spec.template.spec.containers;

  test('is valid according to the Kubernetes schema, which detects mistakes', () => {
    expect(() => new Job(read()).validate()).not.toThrow();
    const wrong = read();
    wrong.spec.completions = 'eight';
    delete wrong.spec.template.spec.containers[0].name;
    expect(() => new Job(wrong).validate()).toThrow(/completions must be integer|required property 'name'/);
  });

  test('gives each pod its own shard, one for each pod', () => {
    expect(spec).toMatchObject({
      completionMode: 'Indexed',
      completions: 8,
      parallelism: 8,
      backoffLimit: 0,
    });
    expect(container.args[0]).toContain('--shard "$((JOB_COMPLETION_INDEX + 1))/8"');
  });

  test('runs a line that writes its result to the log, even if the load was not valid', async (context) => {
    const sandbox = sandboxFor(context);
    const { baseUrl } = await startEmulatorFor(context, { reply: 'silence' });
    const line = container.args[0]
      .replace(
        '--base-url https://voice.example --confirm voice.example',
        `--base-url ${baseUrl} --task tokens`,
      )
      .replace('--sessions 4000', '--sessions 16')
      .replace('--processes auto', '--processes none')
      .replaceAll('/tmp/result.json', sandbox.path('result.json'));
    const start = new Date(Date.now() + 3_000).toISOString();
    const { code, stdout } = await sandbox.shellHere(line, {
      env: { JOB_COMPLETION_INDEX: '2', START: start },
    });
    expect(code).toBe(0);
    const result = JSON.parse(/^RESULT (.*)$/m.exec(stdout)?.[1] ?? '');
    expect(result).toMatchObject({ shards: { has: [3], of: 8 } });
    // On a busy machine they may be too late to be sent: the line ends with 0 even then.
    expect(result.counts.arrived + result.counts.dropped).toBe(2);
  });
});

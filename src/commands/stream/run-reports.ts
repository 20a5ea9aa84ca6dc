import { toVoicectlError, VoicectlError } from '../../kernel/errors.ts';
import { describeFailure } from '../../kernel/failure-kind.ts';
import type { GithubReport } from '../../report/github.ts';
import type { RepeatSummary, RunResult } from '../../runs/repeat.ts';
import type { CommandContext } from '../command.ts';

export interface RunReports {
  /** Called for each run that counts. */
  ran(result: RunResult): void;
  /** Called with the result of several runs. */
  total(summary: RepeatSummary): void;
}

interface ReportOptions {
  /** The name of the command. */
  command: string;
  /** What is tested, for people. */
  subject: string;
  junit: string | undefined;
}

/**
 * Runs `body`, and writes the reports for pipelines: JUnit on request, annotations and a step summary
 * in GitHub Actions. It writes them even if the runs fail or cannot begin. The JUnit file exists from
 * the start and says that the run is not done, so that a killed run leaves a failure. Rejects with the error of
 * `body`, else with `input-output` if the JUnit file cannot be written.
 */
export async function withReports(
  context: Pick<CommandContext<never>, 'io' | 'warn'>,
  { command, subject, junit }: ReportOptions,
  body: (reports: RunReports) => Promise<void>,
): Promise<void> {
  const { clock, giveUp } = context.io;
  const startedAt = clock.wall();
  const since = clock.now();
  const name = `${command} ${subject}`;
  const runs: RunResult[] = [];
  let total: RepeatSummary | undefined;
  const writeJunit = async (all: readonly RunResult[], options = {}) => {
    if (junit === undefined) return;
    const { junitXml } = await import('../../report/junit.ts');
    const { writeWhole } = await import('../../files/write-whole.ts');
    await writeWhole(junit, junitXml({ name, command, runs: all }), { ...options, giveUp });
  };
  const asRun = (error: VoicectlError): RunResult => ({
    run: runs.length + 1,
    warmup: false,
    startedAt,
    elapsedMs: clock.now() - since,
    summary: undefined,
    failure: describeFailure(error),
  });

  await writeJunit([asRun(new VoicectlError('interrupted', 'The run did not finish'))], {
    preliminary: true,
  });
  let failure: VoicectlError | undefined;
  try {
    await body({
      ran: (result) => void runs.push(result),
      total(summary) {
        total = summary;
      },
    });
  } catch (thrown) {
    failure = toVoicectlError(thrown);
  }
  // A failure outside of any run counts as a run.
  if (failure !== undefined && runs.every((run) => run.failure === null)) runs.push(asRun(failure));
  await tellGithub(context, { name, runs, total });
  try {
    await writeJunit(runs);
  } catch (thrown) {
    if (failure === undefined) throw thrown;
    await context.warn(`! ${toVoicectlError(thrown).message}`);
  }
  if (failure !== undefined) throw failure;
}

/** Standard output may be read by a machine: GitHub reads commands from standard error as well. */
async function tellGithub(
  { io, warn }: Pick<CommandContext<never>, 'io' | 'warn'>,
  report: GithubReport,
): Promise<void> {
  const { env, stderr, giveUp } = io;
  if (env.GITHUB_ACTIONS !== 'true') return;
  const { githubAnnotations, githubStepSummary } = await import('../../report/github.ts');
  for (const line of githubAnnotations(report)) await stderr.write(`${line}\n`).catch(() => {});
  const path = env.GITHUB_STEP_SUMMARY;
  if (path === undefined || path === '') return;
  try {
    const { writeText } = await import('../../files/write-text.ts');
    await writeText(path, githubStepSummary(report), {
      existing: 'append',
      name: 'the step summary',
      giveUp,
    });
  } catch (thrown) {
    await warn(`! ${toVoicectlError(thrown).message}`);
  }
}

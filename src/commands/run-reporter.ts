import { toVoicectlError, VoicectlError } from '../kernel/errors.ts';
import { describeFailure } from '../kernel/failure-kind.ts';
import type { RunReport } from '../report/run-report.ts';
import type { CommandContext } from './command.ts';

type Context = Pick<CommandContext<never>, 'io' | 'warn'>;

export interface Reporting {
  /** The name of the command. */
  command: string;
  /** What the run is about, for people. */
  subject: string;
  /** The name of the case for the run itself. Default `run`. */
  unit?: 'session' | 'run';
  junit: string | undefined;
}

/** Makes the report of what was found so far. It is called only if a pipeline gets it. */
export type MakeReport = () => RunReport | Promise<RunReport>;

/**
 * Runs `body`, and writes what pipelines read: JUnit on request; in GitHub Actions annotations and a step summary.
 * It writes them even if the run fails or cannot begin. The JUnit file exists from the start and says that the run did
 * not finish, so that a killed run leaves a failure. `body` hands over what the report is made of: the last one counts.
 * Rejects with the error of `body`, else with `input-output` if the JUnit file cannot be written.
 */
export async function reportRun<Result>(
  context: Context,
  { command, subject, unit = 'run', junit }: Reporting,
  body: (report: (make: MakeReport) => void) => Promise<Result>,
): Promise<Result> {
  const { clock, giveUp, env } = context.io;
  const isOnGithub = env.GITHUB_ACTIONS === 'true';
  if (junit === undefined && !isOnGithub) return body(() => {});
  const { withFailure } = await import('../report/run-report.ts');
  const startedAt = clock.wall();
  const since = clock.now();
  let make: MakeReport | undefined;
  const failed = (found: RunReport | undefined, error: VoicectlError) => {
    const naming = {
      name: `${command} ${subject}`,
      command,
      unit,
      startedAt,
      elapsedMs: clock.now() - since,
    };
    return withFailure(found, naming, describeFailure(error));
  };
  const writeJunit = async (report: RunReport, options = {}) => {
    if (junit === undefined) return;
    const { junitXml } = await import('../report/junit.ts');
    const { writeWhole } = await import('../files/output-file.ts');
    await writeWhole(junit, junitXml(report), { ...options, giveUp });
  };

  const unfinished = new VoicectlError('interrupted', 'The run did not finish');
  await writeJunit(failed(undefined, unfinished), { preliminary: true });
  const outcome = await body((given) => {
    make = given;
  }).then(
    (result) => ({ result, error: undefined }),
    (thrown) => ({ result: undefined, error: toVoicectlError(thrown) }),
  );
  const { error } = outcome;
  const found = await make?.();
  const report = error === undefined ? found : failed(found, error);
  if (report !== undefined) {
    if (isOnGithub) await reportToGithub(context, report);
    try {
      await writeJunit(report);
    } catch (thrown) {
      if (error === undefined) throw thrown;
      await context.warn(`! ${toVoicectlError(thrown).message}`);
    }
  }
  if (error !== undefined) throw error;
  return outcome.result as Result;
}

/**
 * Writes a file of a run, and reports it; does nothing without a path. Returns `input-output` if it cannot be
 * written: a failure of the run (`hasFailed`) counts more, and then it is only reported.
 */
export async function writeRunFile(
  { io: { giveUp }, note, warn }: Context & Pick<CommandContext<never>, 'note'>,
  { path, hasFailed }: { path: string | undefined; hasFailed: boolean },
  make: () => string | Promise<string>,
): Promise<VoicectlError | undefined> {
  if (path === undefined) return undefined;
  const { writeWhole } = await import('../files/output-file.ts');
  try {
    await writeWhole(path, await make(), { giveUp });
  } catch (thrown) {
    const error = toVoicectlError(thrown);
    if (!hasFailed) return error;
    await warn(`! ${error.message}`);
    return undefined;
  }
  await note(`Wrote ${path}`);
  return undefined;
}

/** Standard output may be read by a machine: GitHub reads commands from standard error as well. */
async function reportToGithub({ io, warn }: Context, report: RunReport): Promise<void> {
  const { env, stderr, giveUp } = io;
  const { githubAnnotations, githubStepSummary } = await import('../report/github.ts');
  for (const line of githubAnnotations(report)) await stderr.write(`${line}\n`).catch(() => {});
  const path = env.GITHUB_STEP_SUMMARY;
  if (path === undefined || path === '') return;
  try {
    const { writeText } = await import('../files/output-file.ts');
    await writeText(path, githubStepSummary(report), {
      existing: 'append',
      name: 'the step summary',
      giveUp,
    });
  } catch (thrown) {
    await warn(`! ${toVoicectlError(thrown).message}`);
  }
}

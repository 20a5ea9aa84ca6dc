import { appendFile } from 'node:fs/promises';
import { writeFailure } from '../../files/refusal.ts';
import { writeWhole } from '../../files/write-whole.ts';
import type { VerdictReport } from '../../report/verdict-reports.ts';
import type { CommandContext } from '../command.ts';

type Context = CommandContext<'junit'>;

/** Writes what pipelines read: JUnit if it is asked for; in GitHub Actions also annotations and a step summary. */
export async function writeVerdicts(context: Context, report: () => Promise<VerdictReport>): Promise<void> {
  const { settings, io } = context;
  const isOnGithub = io.env.GITHUB_ACTIONS === 'true';
  if (settings.junit === undefined && !isOnGithub) return;
  const told = await report();
  if (settings.junit !== undefined) {
    const { verdictJunit } = await import('../../report/verdict-reports.ts');
    await writeWhole(settings.junit, verdictJunit(told));
  }
  if (isOnGithub) await tellGithub(context, told);
}

async function tellGithub({ io, note }: Context, report: VerdictReport): Promise<void> {
  const { verdictAnnotations, verdictStepSummary } = await import('../../report/verdict-reports.ts');
  for (const line of verdictAnnotations(report)) await io.stderr.write(`${line}\n`).catch(() => {});
  const path = io.env.GITHUB_STEP_SUMMARY;
  if (path === undefined || path === '') return;
  try {
    await appendFile(path, verdictStepSummary(report));
  } catch (cause) {
    await note(`! ${writeFailure('the step summary', cause).message}`);
  }
}

import { appendFile } from 'node:fs/promises';
import type { CheckResult } from '../../conformance/check.ts';
import { writeFailure } from '../../files/refusal.ts';
import { writeWhole } from '../../files/write-whole.ts';
import type { CheckReport } from '../../report/check-reports.ts';
import type { CheckContext } from './context.ts';

interface Checked {
  name: string;
  startedAt: number;
  result: CheckResult;
}

/** Writes the requested reports: JUnit and a page; in GitHub Actions also annotations and a step summary. */
export async function writeReports(
  context: CheckContext,
  { name, startedAt, result }: Checked,
): Promise<void> {
  const { settings, io, note } = context;
  const report: CheckReport = { name: `check ${name}`, startedAt, result, strict: settings.strict === true };
  if (settings.html !== undefined) {
    const { checkPage } = await import('../../report/check-page.ts');
    await writeWhole(settings.html, checkPage({ subject: name, startedAt, result }));
    await note(`Wrote ${settings.html}`);
  }
  if (settings.junit !== undefined) {
    const { checkJunit } = await import('../../report/check-reports.ts');
    await writeWhole(settings.junit, checkJunit(report));
  }
  if (io.env.GITHUB_ACTIONS === 'true') await tellGithub(context, report);
}

async function tellGithub({ io, note }: CheckContext, report: CheckReport): Promise<void> {
  const { checkAnnotations, checkStepSummary } = await import('../../report/check-reports.ts');
  for (const line of checkAnnotations(report)) await io.stderr.write(`${line}\n`).catch(() => {});
  const path = io.env.GITHUB_STEP_SUMMARY;
  if (path === undefined || path === '') return;
  try {
    await appendFile(path, checkStepSummary(report));
  } catch (cause) {
    await note(`! ${writeFailure('the step summary', cause).message}`);
  }
}

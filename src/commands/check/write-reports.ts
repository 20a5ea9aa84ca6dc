import type { CheckResult } from '../../conformance/check.ts';
import { writeWhole } from '../../files/write-whole.ts';
import { writeVerdicts } from '../conformance/write-verdicts.ts';
import type { CheckContext } from './context.ts';

interface Checked {
  name: string;
  startedAt: number;
  result: CheckResult;
}

/** Writes the requested reports: a page, and what pipelines read. */
export async function writeReports(
  context: CheckContext,
  { name, startedAt, result }: Checked,
): Promise<void> {
  const { settings, note } = context;
  if (settings.html !== undefined) {
    const { checkPage } = await import('../../report/check-page.ts');
    await writeWhole(settings.html, checkPage({ subject: name, startedAt, result }));
    await note(`Wrote ${settings.html}`);
  }
  await writeVerdicts(context, async () => {
    const { checkReport } = await import('../../report/check-reports.ts');
    return checkReport({ name, startedAt, result, strict: settings.strict === true });
  });
}

import type { DrillResult } from '../../conformance/drill/drill.ts';
import { writeVerdicts } from '../conformance/write-verdicts.ts';
import type { DrillContext } from './context.ts';

/** Writes what pipelines read. */
export async function writeReports(
  context: DrillContext,
  drilled: { name: string; startedAt: number; result: DrillResult },
): Promise<void> {
  await writeVerdicts(context, async () => {
    const { drillReport } = await import('../../report/drill-reports.ts');
    return drillReport({ ...drilled, device: context.args });
  });
}

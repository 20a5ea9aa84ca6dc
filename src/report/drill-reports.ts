import type { DrillResult } from '../conformance/drill/drill.ts';
import { againLine, evidenceLines } from './drill-lines.ts';
import type { VerdictReport } from './verdict-reports.ts';

export interface DrillReport {
  /** The device, for people. */
  name: string;
  /** The command that is the device; empty if it connects by itself. */
  device: readonly string[];
  startedAt: number;
  result: DrillResult;
}

const mostLines = 20;

/** A drill, for the reports that pipelines read. */
export function drillReport({ name, device, startedAt, result }: DrillReport): VerdictReport {
  return {
    ...result,
    command: 'drill',
    name,
    noun: 'situation',
    startedAt,
    items: result.drilled.map((drilled) => {
      const { id, title, rule, finding, elapsedMs } = drilled;
      return {
        ...{ id, title, finding, says: rule.says, seconds: elapsedMs / 1000 },
        lines: [...evidenceLines(drilled, mostLines), `again: ${againLine(drilled, device)}`],
        isFailed: finding.verdict === 'fail',
      };
    }),
    properties: [],
  };
}

import type { DrillView } from '../../../src/conformance/drill/situation.ts';

/** What was seen of a device that the drill started and that is running. */
export function viewOf(facts: Pick<DrillView, 'now' | 'seen'> & Partial<DrillView>): DrillView {
  return {
    ...{ journal: [], elsewhere: [], done: [], isShared: false, deviceTimeoutMs: 10_000 },
    device: { starts: 1, ended: undefined },
    ...facts,
  };
}

import type { Reporter } from 'vitest/node';

/** Names the tests that failed and then passed, at the end where nobody misses them: each is a defect. */
export const nameSecondTries: Reporter = {
  onTestRunEnd(modules) {
    for (const one of modules) {
      for (const test of one.children.allTests()) {
        if (!test.diagnostic()?.flaky) continue;
        const why = test.result().errors?.flatMap(({ message, diff }) => [message, diff ?? []].flat()) ?? [];
        console.warn(
          `PASSED AT A SECOND TRY: ${one.relativeModuleId} > ${test.fullName}\n  ${why.join('\n  ')}`,
        );
      }
    }
  },
};

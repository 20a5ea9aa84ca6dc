import type { Reporter } from 'vitest/node';

/** More second tries than this are no accident of a busy machine: the run fails. */
const mostSecondTries = 2;

/**
 * Names the tests that failed and then passed, at the end where nobody misses them, and counts them: each is a defect.
 */
export const countSecondTries: Reporter = {
  onTestRunEnd(modules) {
    let count = 0;
    for (const one of modules) {
      for (const test of one.children.allTests()) {
        if (!test.diagnostic()?.flaky) continue;
        count += 1;
        const why = test.result().errors?.flatMap(({ message, diff }) => [message, diff ?? []].flat()) ?? [];
        console.warn(
          `PASSED AT A SECOND TRY: ${one.relativeModuleId} > ${test.fullName}\n  ${why.join('\n  ')}`,
        );
      }
    }
    console.warn(`Tests that needed a second try: ${count} (at most ${mostSecondTries} may)`);
    if (count > mostSecondTries) process.exitCode = 1;
  },
};

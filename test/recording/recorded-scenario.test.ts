import { expect, test } from 'vitest';
import { recordedScenario } from '../../src/recording/recorded-scenario.ts';
import { readTimeline } from '../../src/recording/timeline.ts';
import { message, setUpBundles } from '../helpers/bundles.ts';

const bundles = setUpBundles();

test.each([
  [1011, 'oops', /do:\n +- wait: 900ms\n +- close:\n +code: 1011\n +reason: oops\n/],
  [1006, '', /do:\n +- wait: 900ms\n +- fault: abnormal-close\n/],
])(
  'a stream that the service ended with %i ends in the same way in its scenario',
  async (code, reason, steps) => {
    const recording = await bundles.write((writer) => {
      message(writer, 100, 'connected', { type: 'service_voice_connected' });
      writer.wire({ t: 1_000, type: 'close', by: 'service', code, reason });
    });
    const options = { clipName: String, turnEndMs: 500 };
    expect(recordedScenario(recording, readTimeline(recording), options).text).toMatch(steps);
  },
);

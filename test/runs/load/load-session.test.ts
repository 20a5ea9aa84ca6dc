import { expect, test } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { VoicectlError } from '../../../src/kernel/errors.ts';
import type { LoadContext } from '../../../src/runs/load/context.ts';
import { runLoadSession } from '../../../src/runs/load/load-session.ts';
import { Tally } from '../../../src/runs/load/tally.ts';
import { grant, startTokenStub } from '../../helpers/token-stub.ts';
import { setUpSandbox } from '../../helpers/voicectl.ts';

const sandbox = setUpSandbox();

/** What is counted of a session whose stream cannot be opened, for this reason of the system. */
async function countsOf(code: string) {
  const { baseUrl } = await startTokenStub(sandbox, grant('a-token'));
  const tally = new Tally();
  const failure = new VoicectlError('connect-failed', 'The stream could not be opened', {
    cause: Object.assign(new Error(code), { code }),
  });
  const context: Partial<LoadContext> = {
    ...{ clock: systemClock, tally, task: 'listen', signal: new AbortController().signal, onFailure() {} },
    target: { baseUrl, wsUrl: baseUrl, apiKey: 'a-key', ca: undefined, apiVersion: undefined },
    times: { giveUpMs: 60_000, holdMs: 0, clipMs: 0, waitMs: 0, settleMs: 0, stormAtMs: 0 },
    dial: ({ onEnd }) => {
      queueMicrotask(() => onEnd({ code: 1006, reason: '', failure }));
      return { cut() {} } as ReturnType<LoadContext['dial']>;
    },
  };
  await runLoadSession(context as LoadContext, { due: systemClock.now(), device: 'device-1' });
  const { arrived, dropped, failed } = tally.counts;
  return { arrived, dropped, failed };
}

test.each([
  ['EMFILE', 'drops the arrival', { arrived: 0, dropped: 1, failed: 0 }],
  ['ENFILE', 'drops the arrival', { arrived: 0, dropped: 1, failed: 0 }],
  ['EADDRNOTAVAIL', 'drops the arrival', { arrived: 0, dropped: 1, failed: 0 }],
  ['ENOBUFS', 'drops the arrival', { arrived: 0, dropped: 1, failed: 0 }],
  ['ENOMEM', 'drops the arrival', { arrived: 0, dropped: 1, failed: 0 }],
  ['ECONNREFUSED', 'is a failure of the service', { arrived: 1, dropped: 0, failed: 1 }],
])('%s, when a stream is opened, %s', async (code, _what, counts) => {
  expect(await countsOf(code)).toEqual(counts);
});

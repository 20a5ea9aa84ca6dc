import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { VoicectlError } from '../../../src/kernel/errors.ts';
import { closeCodes } from '../../../src/protocol/close-codes.ts';
import { createClip } from '../../../src/runs/load/clip.ts';
import type { LoadContext } from '../../../src/runs/load/context.ts';
import { runLoadSession } from '../../../src/runs/load/load-session.ts';
import { Tally } from '../../../src/runs/load/tally.ts';
import type { FastStream, FastStreamHandlers } from '../../../src/wire/client/fast-stream.ts';
import { speech } from '../../helpers/pcm.ts';
import { grant, startTokenStub } from '../../helpers/token-stub.ts';
import { setUpSandbox } from '../../helpers/voicectl.ts';

const sandbox = setUpSandbox();

/** Runs a session of this task, whose streams end as `dial` decides. The time stands still for its frames. */
async function tallyOf(
  task: LoadContext['task'],
  dial: (handlers: FastStreamHandlers) => void,
): Promise<{ tally: Tally; failures: string[] }> {
  const { baseUrl } = await startTokenStub(sandbox, grant('a-token'));
  const tally = new Tally();
  const failures: string[] = [];
  const context: Partial<LoadContext> = {
    ...{ clock: systemClock, tally, task, signal: new AbortController().signal },
    startedAt: systemClock.now(),
    onFailure: (message) => failures.push(message),
    clip: createClip(Buffer.alloc(640)),
    pulse: { add: () => () => {}, close() {}, skipped: 0 },
    target: { baseUrl, wsUrl: baseUrl, apiKey: 'a-key', ca: undefined, apiVersion: undefined },
    times: { giveUpMs: 60_000, holdMs: 0, clipMs: 0, waitMs: 0, settleMs: 0, stormAtMs: 60_000 },
    dial(handlers) {
      queueMicrotask(() => dial(handlers));
      const stream: Partial<FastStream> = { cut() {}, close() {}, sendText() {}, payload: speech(20) };
      return stream as FastStream;
    },
  };
  await runLoadSession(context as LoadContext, { due: systemClock.now(), device: 'device-1' });
  return { tally, failures };
}

/** What is counted of a session whose stream cannot be opened, for this reason of the system. */
async function countsOf(code: string) {
  const failure = new VoicectlError('connect-failed', 'The stream could not be opened', {
    cause: Object.assign(new Error(code), { code }),
  });
  const { tally } = await tallyOf('listen', ({ onEnd }) => onEnd({ code: 1006, reason: '', failure }));
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

describe('a service that ends a confirmed stream with 1000', () => {
  const afterClose = (task: LoadContext['task'], audio: readonly Buffer[] = []) =>
    tallyOf(task, ({ onOpen, onText, onAudio, onEnd }) => {
      onOpen(systemClock.now());
      onText('{"type":"service_voice_connected"}', systemClock.now());
      for (const { length } of audio) onAudio(length, systemClock.now());
      onEnd({ code: closeCodes.normal, reason: '', failure: undefined });
    });

  test.each([
    ['storm', 'the storm'],
    ['talk', 'the reply'],
    ['barge-in', 'the reply'],
    ['listen', 'the reply'],
  ] as const)('fails a session of %s that awaits %s', async (task, awaited) => {
    const { tally, failures } = await afterClose(task);
    expect(failures).toEqual([`The stream was closed before ${awaited}`]);
    expect(tally.counts).toMatchObject({ confirmed: 1, done: 0, failed: 1 });
    const { finished, failures: kinds } = tally.flush();
    expect(kinds).toEqual({ 'stream-broken': 1 });
    expect(finished.back).toBeUndefined();
  });

  test('does not fail a listener that it has greeted', async () => {
    const { tally, failures } = await afterClose('listen', [speech(20)]);
    expect(failures).toEqual([]);
    expect(tally.counts).toMatchObject({ done: 1, failed: 0 });
  });
});

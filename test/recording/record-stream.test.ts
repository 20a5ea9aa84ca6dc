import { expect, test } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { readRecording } from '../../src/recording/read-recording.ts';
import { recordStream } from '../../src/recording/record-stream.ts';
import { setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const MiB = 1024 * 1024;

test('a recording that the disk could not keep up with is incomplete, and says nothing of the rest', async () => {
  const failures: string[] = [];
  const folder = sandbox.path('stream');
  const recording = recordStream({
    ...{ baseUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1', source: 'a test' },
    folderOf: () => folder,
    clock: systemClock,
    device: 'lamp',
    ownerOf: () => ({ device: 'lamp' }),
    onFailure: ({ message }) => failures.push(message),
  });
  const data = Buffer.alloc(MiB);
  for (let at = 0; at < 9; at += 1)
    recording.tap.message?.({ from: 'device', at, opcode: 'binary', bytes: MiB, data });
  await recording.close();
  expect(failures).toEqual(['The disk cannot keep up']);
  const { problems } = await readRecording(folder);
  expect(problems).toEqual(['There is no summary.json: the recording is incomplete']);
});

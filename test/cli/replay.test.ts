import { describe, expect, test } from 'vitest';
import { readRecording } from '../../src/recording/read-recording.ts';
import { pcmOf } from '../../src/recording/replay.ts';
import { fixture, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();

/** What was sent on the stream, without the times: text as it is, audio byte for byte, and the close. */
async function contentOf(name: string) {
  const recording = await readRecording(sandbox.path(name));
  expect(recording.problems).toEqual([]);
  const audio = (direction: 'out' | 'in') =>
    recording.wire.flatMap((line) =>
      line.type === 'audio' && line.direction === direction
        ? [pcmOf(recording, line).toString('base64')]
        : [],
    );
  return {
    // In one order: what the service said and when it spoke.
    service: recording.wire.flatMap((line) => {
      if (line.type === 'text') return [line.text];
      return line.type === 'audio' && line.direction === 'in' ? [`${line.bytes} bytes`] : [];
    }),
    messages: recording.events.flatMap((event) =>
      event.type === 'message' ? [[event.category, event.kind, event.body]] : [],
    ),
    closes: recording.wire.flatMap((line) =>
      line.type === 'close' ? [[line.by, line.code, line.reason]] : [],
    ),
    heard: audio('in'),
    said: audio('out'),
  };
}

async function startReplay(name: string, ...flags: string[]) {
  const replay = await sandbox.startHere(['replay', sandbox.path(name), ...flags, '--port', '0', '--json']);
  const { baseUrl } = JSON.parse(await replay.line(/"type":"listening"/));
  return { baseUrl: baseUrl as string };
}

/** A service that does everything that is hard to repeat. */
const awkward = `export function createReply(voice) {
  let frames = 0;
  return { hear() {
    frames += 1;
    if (frames === 5) {
      voice.text('not JSON');
      voice.text('{ "type":"x",  "big":12345678901234567890, "a":1, "a":2 }');
      voice.send(Buffer.alloc(0));
      voice.send(Buffer.from([1, 2, 3]));
      voice.error('QUOTA', 'Too much');
    }
    if (frames > 5 && frames < 40) voice.send(Buffer.alloc(100 + frames, frames));
    if (frames === 60) voice.close(4000, 'bye');
  } };
}`;

describe('a recorded session, replayed as the service and recorded again', () => {
  const stream = ['stream', '--settle', '1s'];
  const spoken = [...stream, '--file', fixture('barge-in.wav')];
  const run = async (args: readonly string[], code = 0) =>
    expect(await sandbox.runHere(args)).toMatchObject({ code });

  const expectSame = async (first: string, second: string) => {
    const [before, after] = [await contentOf(first), await contentOf(second)];
    expect(before.heard.length).toBeGreaterThan(30);
    expect(after.heard).toEqual(before.heard);
    expect(after.messages).toEqual(before.messages);
    expect(after.service).toEqual(before.service);
    expect(after.closes).toEqual(before.closes);
  };

  test('gives the same events in order and the same audio, byte for byte, if the service ends it', async () => {
    sandbox.write('awkward.mjs', awkward);
    const flags = [...spoken, '--tail', '2s'];
    await run([...flags, '--local', '--reply', 'module:awkward.mjs', '--record', 'first'], 6);
    const { baseUrl } = await startReplay('first');
    await run([...flags, '--base-url', baseUrl, '--record', 'second'], 6);
    await expectSame('first', 'second');
  });

  test('works for a conversation too, also with its user as the device, faster, and with an emulator inside the process', async () => {
    await run([...spoken, '--local', '--record', 'first']);
    const { baseUrl } = await startReplay('first');
    await run([...spoken, '--base-url', baseUrl, '--record', 'second']);
    await expectSame('first', 'second');
    const { said, heard } = await contentOf('first');
    expect(said.length).toBeGreaterThan(50);

    await run([...stream, '--replay', 'first', '--wait', '2s', '--base-url', baseUrl, '--record', 'device']);
    expect(await contentOf('device')).toMatchObject({ said, heard });

    await run([...spoken, '--local', '--reply', 'replay:first', '--record', 'inside']);
    expect((await contentOf('inside')).heard).toEqual(heard);

    const { baseUrl: fast } = await startReplay('first', '--speed', '8');
    await run([...stream, '--replay', 'first', '--pace', '8', '--base-url', fast, '--record', 'faster']);
    expect((await contentOf('faster')).heard).toEqual(heard);
  });
});

describe('what cannot be replayed is refused with 2', () => {
  test.each([
    ['a missing recording', ['replay', 'missing']],
    ['a missing recording, as a device', ['stream', '--replay', 'missing', '--local']],
    ['an invalid speed', ['replay', 'x', '--speed', '0']],
    ['two sources', ['stream', '--replay', 'missing', '--raw', 'x', '--local']],
  ])('%s', async (_what, args) => {
    const ended = await sandbox.runHere(args);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(/^voicectl: .+\n/);
  });

  test('a scenario or a reply in place of the recording', async () => {
    for (const flag of ['--scenario', '--reply']) {
      expect(await sandbox.runHere(['replay', 'session', flag, 'barge-in'])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`unknown option '${flag}'`),
      });
    }
  });

  test('a session that had no stream', async () => {
    const file = ['--file', fixture('barge-in.wav')];
    const refused = ['stream', ...file, '--base-url', 'http://127.0.0.1:9', '--retries', '0'];
    expect((await sandbox.runHere([...refused, '--record', 'r'])).code).toBe(4);
    const ended = await sandbox.runHere(['replay', 'r']);
    expect(ended).toMatchObject({
      code: 2,
      stderr: 'voicectl: Cannot read r: it contains no voice stream to replay\n',
    });
  });
});

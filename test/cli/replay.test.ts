import { describe, expect, test } from 'vitest';
import { readRecording } from '../../src/recording/read-recording.ts';
import { pcmOf } from '../../src/recording/replay.ts';
import { fixture, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();

/** What went over the stream, without the times: text as it is, audio byte for byte, and the close. */
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
  test.each([
    ['a conversation', [], ['--local', '--settle', '1s'], 0],
    ['one that the service ends', ['--tail', '2s'], ['--local', '--reply', 'module:awkward.mjs'], 6],
  ])(
    'gives the same events in order and the same audio, byte for byte: %s',
    async (_what, flags, service, code) => {
      sandbox.write('awkward.mjs', awkward);
      const stream = ['stream', '--file', fixture('barge-in.wav'), '--settle', '1s', ...flags];
      expect((await sandbox.runHere([...stream, ...service, '--record', 'first'])).code).toBe(code);
      const { baseUrl } = await startReplay('first');
      expect((await sandbox.runHere([...stream, '--base-url', baseUrl, '--record', 'second'])).code).toBe(
        code,
      );

      const [first, second] = [await contentOf('first'), await contentOf('second')];
      expect(first.heard.length).toBeGreaterThan(30);
      expect(second.heard).toEqual(first.heard);
      expect(second.messages).toEqual(first.messages);
      expect(second.service).toEqual(first.service);
      expect(second.closes).toEqual(first.closes);
    },
  );

  test('also with the recorded user as the device, whose audio is the same as well', async () => {
    const stream = ['stream', '--settle', '1s', '--wait', '2s'];
    const first = [...stream, '--file', fixture('barge-in.wav'), '--local', '--record', 'first'];
    expect((await sandbox.runHere(first)).code).toBe(0);
    const { baseUrl } = await startReplay('first');
    const again = [...stream, '--replay', 'first', '--base-url', baseUrl, '--record', 'second'];
    expect((await sandbox.runHere(again)).code).toBe(0);
    const { said, heard } = await contentOf('first');
    expect(said.length).toBeGreaterThan(50);
    expect(await contentOf('second')).toMatchObject({ said, heard });
  });

  test('also faster, and for an emulator inside the process', async () => {
    const stream = ['stream', '--settle', '1s', '--file', fixture('barge-in.wav'), '--local'];
    expect((await sandbox.runHere([...stream, '--record', 'first'])).code).toBe(0);
    expect((await sandbox.runHere([...stream, '--reply', 'replay:first', '--record', 'second'])).code).toBe(
      0,
    );
    const { baseUrl } = await startReplay('first', '--speed', '8');
    const faster = ['stream', '--replay', 'first', '--pace', '8', '--settle', '1s', '--base-url', baseUrl];
    expect((await sandbox.runHere([...faster, '--record', 'third'])).code).toBe(0);
    const { heard } = await contentOf('first');
    expect((await contentOf('second')).heard).toEqual(heard);
    expect((await contentOf('third')).heard).toEqual(heard);
  });
});

describe('what cannot be replayed is refused with 2', () => {
  test.each([
    ['what is not there', ['replay', 'missing']],
    ['what is not there, as a device', ['stream', '--replay', 'missing', '--local']],
    ['a speed that is none', ['replay', 'x', '--speed', '0']],
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

  test('a session that came to no stream', async () => {
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

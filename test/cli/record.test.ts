import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readRecording } from '../../src/recording/read-recording.ts';
import { fixture, fixturePcm, jsonLines, only, setUpSandbox, summaryOf } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const file = ['--file', fixture('barge-in.wav')];
const pcm = fixturePcm('barge-in.wav');
const sent = Buffer.concat([pcm, Buffer.alloc(640 - (pcm.length % 640))]);
/** The reply comes at once, all of it is heard, and nothing waits. */
const quick = ['--pace', 'max', '--tail', '0', '--settle', '200ms'];
const local = ['--local', '--reply', 'echo', ...quick];

/** One channel of 16-bit stereo. */
function channelOf(stereo: Buffer, channel: number): Buffer {
  const mono = Buffer.alloc(stereo.length / 2);
  for (let at = 0; at < mono.length; at += 2) mono.writeInt16LE(stereo.readInt16LE(at * 2 + channel * 2), at);
  return mono;
}

describe('stream --record', () => {
  test('keeps what was sent and received, the events and the summary', async () => {
    const flags = ['--record', 'r', '--record-both', 'both.wav', '--json'];
    const ended = await sandbox.runHere(['stream', ...file, ...local, ...flags]);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const { wire, audio, events, summary, problems } = await readRecording(sandbox.path('r'));
    expect(problems).toEqual([]);
    for (const direction of ['out', 'in'] as const) {
      const messages = wire.flatMap((line) =>
        line.type === 'audio' && line.direction === direction
          ? [audio[direction].subarray(line.at, line.at + line.bytes)]
          : [],
      );
      expect(Buffer.concat(messages).equals(sent)).toBe(true);
    }
    const lines = jsonLines(ended.stdout);
    expect(events).toEqual(lines.filter(({ type }) => type !== 'audio' && type !== 'summary'));
    const { t: _t, type: _type, ...told } = summaryOf(ended.stdout);
    expect(summary).toEqual(told);
    for (const name of ['both.wav', 'r/both.wav']) {
      const both = readFileSync(sandbox.path(name)).subarray(44);
      for (const channel of [0, 1]) expect(channelOf(both, channel).includes(sent)).toBe(true);
    }
  });

  test('a session that fails is recorded up to its failure', async () => {
    const serve = await sandbox.serveHere(['--rate-limit', '1']);
    const args = ['stream', ...file, '--base-url', serve.baseUrl, '--retries', '0', ...quick];
    await sandbox.runHere(args);
    expect((await sandbox.runHere([...args, '--record', 'r'])).code).toBe(5);
    const { wire, summary } = await readRecording(sandbox.path('r'));
    expect(wire).toEqual([expect.objectContaining({ type: 'token-request', status: 429 })]);
    expect(summary).toMatchObject({ ok: false });
  });

  test('neither key nor token is in it, even if the service repeats them', async () => {
    const key = 'canary-5f1c77e0a9';
    const serve = await sandbox.serveHere(['--accept-key', key, '--reply', 'echo']);
    const { stdout } = await sandbox.runHere(['token', '--device', 'd1', '--base-url', serve.baseUrl], {
      env: { VOICECTL_API_KEY: key },
    });
    const token = stdout.trimEnd();
    for (const [folder, env, flags] of [
      ['asked', { VOICECTL_API_KEY: key }, []],
      ['given', { T: token }, ['--token-from', 'T']],
    ] as const) {
      const ended = await sandbox.runHere(
        ['stream', ...file, ...quick, '--base-url', serve.baseUrl, '--record', folder, ...flags],
        { env },
      );
      expect(ended.code).toBe(0);
      const names = readdirSync(sandbox.path(folder));
      expect(names).toHaveLength(7);
      for (const name of names) {
        const content = readFileSync(join(sandbox.path(folder), name), 'latin1');
        for (const secret of [key, token, token.split('.')[2] ?? '', 'eyJ'])
          expect(content).not.toContain(secret);
      }
    }
  });

  test('an existing folder is left alone, and so is the file of --out', async () => {
    sandbox.write('out.wav', 'mine');
    expect((await sandbox.runHere(['stream', ...file, ...local, '--record', 'r'])).code).toBe(0);
    const again = await sandbox.runHere(['stream', ...file, ...local, '--record', 'r', '--out', 'out.wav']);
    expect(again).toMatchObject({
      code: 2,
      stderr: 'voicectl: Cannot record into r: it already exists\n  Name a folder that does not exist yet.\n',
    });
    expect(sandbox.read('out.wav')).toBe('mine');
  });

  test('if --out cannot be opened no folder is left behind, so that the same command can be run again', async () => {
    const ended = await sandbox.runHere(['stream', ...file, ...local, '--record', 'r', '--out', 'no/o.wav']);
    expect(ended).toMatchObject({ code: 8, stderr: expect.stringContaining('no/o.wav') });
    expect(existsSync(sandbox.path('r'))).toBe(false);
  });

  test('a full disk ends the session with 8 and its summary, and what was written can be opened', async () => {
    const { stdout, stderr } = await sandbox.shell(
      `ulimit -f 40; voicectl stream ${[...file, ...local].join(' ')} --record r --json; echo "exit $?" >&2`,
    );
    expect(stderr).toMatch(
      /^voicectl: Cannot write r\/\w+\.\w+: the file has reached the largest allowed size\n/,
    );
    expect(stderr).toMatch(/exit 8\n$/);
    expect(only(jsonLines(stdout), 'summary')).toMatchObject({ ok: false });
    const { audio } = await readRecording(sandbox.path('r'));
    expect(audio.out.length).toBeGreaterThan(0);
  });
});

/** After how many lines the program is killed: before its stream and in the middle of it; ROUNDS=20 tries twenty moments. */
const rounds = Number(process.env.ROUNDS ?? 0);
const moments = rounds === 0 ? [1, 120] : Array.from({ length: rounds }, (_, at) => 1 + at * 10);

test.each(moments)(
  'killed after line %i, it leaves a recording that can be opened and lacks at most a second',
  async (lines) => {
    const serve = await sandbox.serveHere(['--reply', 'echo']);
    const running = sandbox.start([
      ...['stream', '--file', fixture('two-turns.wav'), '--base-url', serve.baseUrl],
      ...['--record', 'r', '--json', '-v'],
    ]);
    // About sixty lines per second; the first ones report the token and the connection.
    let linesLeft = lines;
    running.child.stdout?.on('data', (chunk: Buffer) => {
      linesLeft -= chunk.toString().split('\n').length - 1;
      if (linesLeft <= 0) running.signal('SIGKILL');
    });
    await running.ended;

    const { audio, wire, problems } = await readRecording(sandbox.path('r'));
    expect(problems).toContain('There is no summary.json: the recording is incomplete');
    const bytes = { out: 0, in: 0 };
    for (const line of wire) if (line.type === 'audio') bytes[line.direction] += line.bytes;
    const isLive = wire.some(({ type }) => type === 'text');
    if (!isLive) return;
    const totals = JSON.parse(await serve.line(/"stream-closed"/));
    expect(totals.bytesIn - bytes.out).toBeLessThanOrEqual(32_000);
    expect(totals.bytesOut - bytes.in).toBeLessThanOrEqual(32_000);
    expect(audio.out.length).toBeGreaterThanOrEqual(bytes.out);
    // Other programs rely on the header.
    for (const name of ['you.wav', 'ai.wav', 'both.wav']) {
      const wav = readFileSync(join(sandbox.path('r'), name));
      expect(wav.length - 44 - wav.readUInt32LE(40)).toBeLessThanOrEqual(32_000 * wav.readUInt16LE(22));
    }
  },
);

import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import type { Lesson } from '../../../src/conformance/learn/infer.ts';
import { compareWithEmulator, learnDialect } from '../../../src/conformance/learn/learn.ts';
import { differences, learnedDialect } from '../../../src/conformance/learn/learned-dialect.ts';
import type { CheckLevel } from '../../../src/conformance/steps/step.ts';
import { createEmulator } from '../../../src/emulator/emulator.ts';
import { bytesForMs } from '../../../src/protocol/audio-format.ts';
import { type DialectInput, parseDialect } from '../../../src/protocol/dialect.ts';
import { speechPcm } from '../../helpers/device-audio.ts';
import { hasten, hastyClock } from '../../helpers/hasten.ts';
import { repliesToTurns, spoken } from '../../helpers/mini-replies.ts';
import { type MiniBehaviour, startMiniService } from '../../helpers/mini-service.ts';
import { conforming } from '../conforming.ts';
import { anyDialect } from './dialects.ts';
import { learnOptions } from './options.ts';

/** Everything that an emulator with this dialect tells of itself. */
async function learnFrom(dialect: DialectInput) {
  await using emulator = await createEmulator({ dialect, acceptKeys: ['key-1'], clock: hastyClock });
  return await hasten(hastyClock, learnDialect(learnOptions(emulator)));
}

function complete(dialect: DialectInput) {
  const parsed = parseDialect(dialect);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.dialect;
}

/** More of them with `DIALECTS=100`: each takes some seconds. */
const numRuns = Number(process.env.DIALECTS ?? 3);
const isWhole = process.env.DIALECTS !== undefined;
const atOnce = Math.min(5, numRuns);
const dialects = fc.sample(anyDialect, { numRuns, seed: 20_261_122 });
const batches = Array.from({ length: dialects.length / atOnce }, (_, index) => [
  index + 1,
  dialects.slice(index * atOnce, (index + 1) * atOnce),
]) as [number, DialectInput[]][];

describe('what learn finds out', () => {
  test.each(batches)(
    'is what was set, in batch %i of random dialects',
    async (_number, batch) => {
      const lessons = await Promise.all(batch.map(learnFrom));
      const problems = lessons.flatMap((lesson, index) => {
        const dialect = batch[index]!;
        const wrong = differences(lesson, complete(dialect));
        // What is written is a dialect.
        complete(learnedDialect(lesson));
        return wrong.length === 0 && lesson.stopped === undefined
          ? []
          : [{ dialect, wrong, stopped: lesson.stopped }];
      });
      expect(problems).toEqual([]);
      // Not true because nothing was told.
      for (const { settings } of lessons)
        expect(settings.filter(({ learned }) => 'value' in learned).length).toBeGreaterThan(45);
    },
    120_000,
  );

  test('differs from the usual dialect in only the choices that differ', async () => {
    const dialect: DialectInput = {
      token: { issuer: 'another' },
      refusals: { invalidRequest: { statuses: { emptyDeviceId: 422 } } },
      rateLimit: { window: 'sliding' },
      stream: { closes: { tokenReused: { close: 4999 } }, tokenDeadlineMs: 9_000, replyFrameMs: 60 },
    };
    const lesson = await learnFrom(dialect);
    expect(
      differences(lesson, complete({}))
        .map(({ path }) => path)
        .toSorted(),
    ).toEqual([
      'rateLimit.window',
      'refusals.invalidRequest.statuses.emptyDeviceId',
      'stream.closes.tokenReused.close',
      'stream.replyFrameMs',
      'stream.tokenDeadlineMs',
      'token.issuer',
    ]);
    expect(differences(lesson, complete(dialect))).toEqual([]);
  }, 60_000);

  test('of an expired token is not what an idle stream gets at that time', async () => {
    await using emulator = await createEmulator({
      dialect: { stream: { idleTimeoutMs: 5_000 } },
      acceptKeys: ['key-1'],
      clock: hastyClock,
    });
    const options = learnOptions(emulator);
    const scope = { ...options.scope, steps: ['A62', 'A55-end'] };
    const { settings } = await hasten(hastyClock, learnDialect({ ...options, scope }));
    const found = settings.find(({ setting: { path } }) => path === 'stream.expiryDuringStream');
    expect(found?.learned).toMatchObject({ value: 'continue' });
  });
});

/** Services that share no code with the emulator. */
const foreign: Readonly<Record<string, Partial<MiniBehaviour>>> = {
  ...conforming,
  'is slow': { ...conforming['is slow'], delayMs: 200 },
  'refuses audio before the token, takes no wrong key, has names of its own for sessions, and messages of every length':
    {
      earlyAudioClose: [4400, 'no audio yet'],
      countsInvalid: true,
      problem: (problem, { fields }) =>
        fields.apiKey === 'key-1' || problem !== undefined
          ? problem
          : { code: 'BAD_KEY', message: 'This key is not known' },
      connected: ({ say, socket }) => {
        sessions += 1;
        const session = `session-${sessions.toString(36)}-${sessions * 7_919}`;
        say({ type: 'service_voice_connected', session });
        socket.send(JSON.stringify({ type: 'limits', session, minutes: 10 }));
      },
      onAudio: ({ socket }, pcm) => {
        lengths = (lengths + 63) % pcm.length;
        socket.send(pcm.subarray(0, lengths));
        socket.send(pcm.subarray(lengths));
      },
    },
  'takes audio before the token for a token, lets tokens be used again, and sends messages of a second and a short one':
    {
      ...conforming['lets tokens be used again, and has no jti'],
      earlyAudioClose: [4401, 'unknown'],
      ...repliesToTurns({ pcm: spoken(1_500), messageMs: 1_000 }),
    },
  'names its session in every message': {
    connected: (stream) => stream.say({ type: 'service_voice_connected', session: idOf(stream) }),
    onText: (stream) =>
      stream.say({ type: 'error', session: idOf(stream), error: { code: 'TEXT', message: 'no text' } }),
    ...repliesToTurns({
      pcm: spoken(300),
      messageMs: 200,
      states: (state) => ({ type: 'status', status: state, id: randomUUID() }),
    }),
  },
  'counts its messages and states from the confirmation on': {
    connected: (stream) => stream.say({ type: 'service_voice_connected', seq: countOf(stream) }),
    ...repliesToTurns({
      pcm: spoken(300),
      states: (state, stream) => ({ type: 'status', status: state, seq: countOf(stream) }),
    }),
  },
  'names its session once': {
    connected: ({ say }) =>
      say({ type: 'service_voice_connected', session: randomUUID(), load: Math.random() }),
  },
};
let sessions = 0;
const ids = new WeakMap<object, string>();
const idOf = (stream: { socket: object }) => {
  const id = ids.get(stream.socket) ?? randomUUID();
  ids.set(stream.socket, id);
  return id;
};
const counts = new WeakMap<object, number>();
const countOf = (stream: { socket: object }) => {
  const count = (counts.get(stream.socket) ?? 0) + 1;
  counts.set(stream.socket, count);
  return count;
};
let lengths = 0;

/**
 * What teaches by the same exchanges as another one, or two others, and in the same way: asked with `DIALECTS`. The others
 * differ in what is told by tokens, by refusals, by the first messages, by states, by the length of messages, and in whose
 * time they live.
 */
const alike = [
  'repeats what it hears',
  'ends a turn after 0.6 s of quiet audio, and says its states',
  'lets tokens be used again, and has no jti',
  'ends messages within a sample, and replies in a short one',
  'sends replies of 5 s at once',
  'compresses answers and messages',
  'names its session once',
];
const asked = Object.entries(foreign).filter(([does]) => isWhole || !alike.includes(does));

test('ten services of another make teach the emulator', () => {
  expect(Object.keys(foreign)).toHaveLength(13);
});

const crowds = new Map<string, Set<WebSocket>>();
const confirmation = JSON.stringify({ type: 'service_voice_connected' });

/** Closes of these codes are replaced. */
const insteadOf =
  (codes: readonly number[], act: (socket: WebSocket) => void = () => {}) =>
  (socket: WebSocket) => {
    const close = socket.close.bind(socket);
    socket.close = (code, reason) =>
      code !== undefined && codes.includes(code) ? act(socket) : close(code, reason);
  };

/**
 * What no dialect expresses: a part of its remark, where the emulator differs, and `standard` if the remark is about what
 * only that level asks. That takes three times as long.
 */
const inexpressible: [
  does: string,
  change: Partial<MiniBehaviour>,
  remark: string,
  paths: string[],
  level?: 'standard',
][] = [
  [
    'confirms what is not a token',
    { onOpen: insteadOf([4401], (socket) => socket.send(confirmation)) },
    'streams without a valid token are confirmed: text that is not a token (S4), a token with an altered signature (S5)',
    ['S4, text that is not a token', 'S5, a token with an altered signature'],
  ],
  [
    'never closes',
    { onOpen: insteadOf([4401, 4408]) },
    'refused tokens get no close within 4 s: a used token, after its stream has ended (S2), text that is not a token (S4)',
    ['S2, ', 'S4, ', 'S5, ', 'S6, nothing'],
  ],
  [
    'says why it refuses, and never closes',
    {
      onOpen: insteadOf([4401], (socket) =>
        socket.send(JSON.stringify({ type: 'error', error: { code: 'BAD', message: 'no' } })),
      ),
    },
    'refused tokens get an error message, but no close within 4 s: a used token, after its stream has ended (S2), text that is not a token (S4)',
    ['S2, ', 'S4, ', 'S5, '],
  ],
  [
    'needs no token',
    { onOpen: (socket) => void hastyClock.after(2_000, () => socket.send(confirmation)) },
    'streams without a valid token are confirmed: nothing (S6)',
    ['S6, nothing'],
  ],
  [
    'refuses a token in a binary message, and no audio before it',
    {
      onOpen: (socket) =>
        socket.on('message', (data: Buffer, isBinary) => {
          if (isBinary && data.toString().startsWith('eyJ')) socket.close(4403, 'text only');
        }),
    },
    'a binary message is treated as a token only if it contains one',
    ['S7, audio, then a token'],
  ],
  [
    'closes after a reply',
    {
      onAudio: ({ socket }, pcm) => {
        socket.send(pcm);
        if (pcm.some((byte) => byte !== 0)) socket.close(1000, 'bye');
      },
    },
    'S1 is closed with 1000, ',
    ['S1, after its confirmation'],
  ],
  [
    'speaks first, and says its states later',
    {
      ...repliesToTurns({ pcm: spoken(300), states: (status) => ({ type: 'status', status }) }),
      connected({ say, socket }) {
        say({ type: 'service_voice_connected' });
        for (let at = 0; at < 10; at += 1) hastyClock.after(20 * at, () => socket.send(spoken(20)));
      },
    },
    'audio comes without a turn (S3)',
    ['S3, without a turn'],
  ],
  [
    'closes all streams of a device for one more',
    {
      maxConnections: 100,
      connected({ say, socket, device }) {
        say({ type: 'service_voice_connected' });
        const others = crowds.get(device) ?? new Set();
        crowds.set(device, others);
        socket.once('close', () => others.delete(socket));
        if (others.size === 10) for (const other of others) other.close(4000, 'all');
        others.add(socket);
      },
    },
    'C11 closes 10 other streams: an emulator closes only the oldest',
    [],
    'standard',
  ],
  [
    'has no rate-limit headers',
    {
      headers: () => ({
        'Content-Type': 'application/json',
        'X-RateLimit-Limit': '',
        'X-RateLimit-Remaining': '',
        'X-RateLimit-Reset': '',
      }),
    },
    'answers with a token lack X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset: an emulator sends them',
    [],
  ],
  ['never speaks', { onAudio: () => {} }, 'S1 got no reply to its speech: an emulator replies to turns', []],
  [
    'says more than the token',
    { body: (token) => ({ token, expiresIn: 60 }) },
    'answers with a token contain further fields: expiresIn',
    [],
  ],
  [
    'says more in its errors',
    { errorBody: (error) => ({ error: { ...error, request: 'r1' }, at: 1 }) },
    'errors of the token endpoint contain further fields: at, error.request',
    [],
  ],
  [
    'says more in its errors on streams',
    { onText: ({ say }) => say({ type: 'error', error: { code: 'A', message: 'b', hint: 'c' } }) },
    'errors on streams contain further fields: error.hint',
    [],
  ],
  [
    'has numbers as codes on streams',
    { onText: ({ say }) => say({ type: 'error', code: 7, message: 'b' }) },
    'the code of an error on a stream is a number: an emulator sends text',
    [],
  ],
  [
    'explains one close, and others not',
    {
      onText({ say, socket }) {
        say({ type: 'error', error: { code: 'A', message: 'b' } });
        socket.close(4003, 'text');
      },
    },
    'the closes of S4, S5, S2, S6, S8, A62, C11 come without an error message, the others with one: an emulator treats all closes alike',
    [],
    'standard',
  ],
  [
    'has its state deeper in its messages',
    repliesToTurns({ pcm: spoken(300), states: (state) => ({ type: 'status', data: { state } }) }),
    'fields of the status messages that differ: data.state',
    [],
  ],
  [
    'says only that it speaks',
    repliesToTurns({
      pcm: spoken(300),
      states: (state) => (state === 'speaking' ? { type: 'begun' } : undefined),
    }),
    'a message comes before the reply and none after it: an emulator sends its own states',
    [],
  ],
  [
    'says what it hears',
    {
      ...repliesToTurns({ pcm: spoken(300), states: (status) => ({ type: 'status', status }) }),
      connected({ say }) {
        say({ type: 'service_voice_connected' });
        hastyClock.after(300, () => say({ type: 'transcript', text: 'hello' }));
        hastyClock.after(320, () => say({ type: 'status', status: 'thinking' }));
      },
    },
    'S1 has messages other than the states, which an emulator does not send: transcript, status thinking',
    [],
  ],
  [
    'says what is no JSON object',
    {
      connected({ say, socket }) {
        say({ type: 'service_voice_connected' });
        for (const text of ['42', 'null', '"x"', '[]']) socket.send(text);
      },
    },
    '4 text messages of S1 contain no JSON object: 42 null "x" []',
    [],
  ],
];

describe.concurrent('what no dialect expresses is named, and compared:', { timeout: 600_000 }, () => {
  test.for(inexpressible)('a service that %s', async ([does, change, remark, paths, level]) => {
    await using service = await startMiniService(change);
    const everything = learnOptions(service);
    const options = {
      ...everything,
      scope: { ...everything.scope, levels: new Set<CheckLevel>(['base', level ?? 'base']) },
      speech: speechPcm.subarray(0, bytesForMs(800)),
    };
    const lesson = await hasten(hastyClock, learnDialect(options));
    expect(lesson.remarks).toContainEqual(expect.stringContaining(remark));
    const { differences: told } = await hasten(hastyClock, compareWithEmulator(lesson, options));
    expect(told.map(({ path }) => path).filter((path) => /^S\d/.test(path))).toEqual(
      paths.map((path) => expect.stringContaining(path)),
    );
    const { stream } = learnedDialect(lesson);
    if (does.includes('says why'))
      expect(stream?.closes?.tokenInvalid).toEqual({ code: 'BAD', message: 'no' });
    if (does.includes('states'))
      expect(stream?.status).toMatchObject({ stateField: 'status', states: { speaking: 'speaking' } });
  });
});

describe.concurrent('an emulator that was taught by a service of another make answers as that does:', {
  timeout: 600_000,
}, () => {
  test.for(asked)('one that %s', async ([does, change]) => {
    const isMovable = change.delayMs === undefined;
    await using service = await startMiniService({ ...change, isMovable });
    const everything = learnOptions(service);
    const { scope } = everything;
    const options = {
      ...everything,
      isEmulator: isMovable,
      speech: speechPcm.subarray(0, bytesForMs(800)),
      scope: { ...scope, levels: new Set(isMovable ? (['base', 'standard'] as const) : (['base'] as const)) },
    };
    const lesson = await hasten(hastyClock, learnDialect(options));
    expect(lesson.stopped).toBeUndefined();
    complete(learnedDialect(lesson));
    const { differences: told, shown } = await hasten(hastyClock, compareWithEmulator(lesson, options));
    expect(told).toEqual([]);
    const saysStates = lesson.settings.some(
      ({ setting: { path }, learned }) =>
        path === 'stream.status.send' && 'value' in learned && learned.value === true,
    );
    expect(saysStates).toBe(/states|words|every message/.test(does));
    // The emulator says one at the start, which no dialect changes.
    const isLate = ({ remarks }: Lesson) =>
      remarks.some((text) => text.startsWith('no state is sent before the first reply'));
    expect([isLate(lesson), isLate(shown)]).toEqual([saysStates, false]);
    // Each value is there again. Windows may end with a minute by chance.
    const lost = lesson.settings.flatMap(({ setting: { path }, learned }, at) => {
      const found = shown.settings[at]?.learned;
      return 'value' in learned && found !== undefined && 'unknown' in found
        ? [`${path}: ${found.unknown}`]
        : [];
    });
    expect(lost.filter((text) => !text.includes('by chance'))).toEqual([]);
  });
});

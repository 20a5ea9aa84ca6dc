import { startLoad } from '../measure/load.js';
import { startEmulator } from '../measure/subject.js';

const sessions = 200;
const talkMs = 6_000;

/**
 * What an active parrot session holds beside the audio that it is to speak back: the memory after garbage was
 * collected while 200 people talk, less that of none. Their talk has pauses too short to end a turn, so that each
 * session holds all of it.
 *
 * @param {import('../measure/subject.js').Subject} subject
 */
async function bytesPerSession(subject) {
  const load = startLoad(subject);
  try {
    await load.open(1);
    const empty = await subject.memory();
    await load.open(sessions + 1);
    const idle = await subject.memory();
    await load.run('talk', { warmMs: 0, ms: talkMs });
    const active = await subject.memory();
    const { streams } = await ask(subject.port, 'state');
    const ended = await ask(subject.port, 'journal?type=turn-ended');
    const bytesIn = streams.map((/** @type {{ bytesIn: number }} */ stream) => stream.bytesIn);
    const audio =
      bytesIn.reduce((/** @type {number} */ sum, /** @type {number} */ bytes) => sum + bytes, 0) /
      (sessions + 1);
    const held = (active.held - empty.held) / sessions;
    return {
      value: (held - audio) / 1000,
      details: {
        'idle session kB': (idle.held - empty.held) / sessions / 1000,
        'its own audio kB': audio / 1000,
        'resident kB': (active.rss - empty.rss) / sessions / 1000,
      },
      // Then the audio that came in is more than what is held.
      ...(ended.length === 0 ? {} : { limit: `held up so long that ${ended.length} turns ended` }),
    };
  } finally {
    load.stop();
    await subject.stop();
  }
}

/**
 * Asks the control API of an emulator.
 *
 * @param {number} port
 * @param {string} what
 */
async function ask(port, what) {
  const answer = await fetch(`http://127.0.0.1:${port}/__voicectl/${what}`);
  if (!answer.ok) throw new Error(`${what}: ${answer.status}`);
  return /** @type {any} */ (await answer.json());
}

/** @type {import('../measure/turns.js').Benchmark} */
export const sessionMemory = {
  name: 'session-memory',
  figure: 'memory of an active parrot session, without its own audio',
  unit: 'kB',
  turns: 2,
  goal: { of: 'value', atMost: 50, text: '≤ 50 kB' },
  program: async () => bytesPerSession(await startEmulator({ args: ['--reply', 'parrot'] })),
};

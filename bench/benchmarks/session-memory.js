import { bytesPerSecond } from '../load/audio.js';
import { startLoad } from '../measure/load.js';
import { startEmulator } from '../measure/subject.js';

const sessions = 200;
/** What a parrot keeps of a session's own audio while its user is talking on and on, on average. */
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
    const { frames } = await load.run('talk', { warmMs: 0, ms: talkMs });
    const active = await subject.memory();
    const audio = (frames / (sessions + 1)) * 0.02 * bytesPerSecond;
    const held = (active.held - empty.held) / sessions;
    return {
      value: (held - audio) / 1000,
      details: {
        'idle session kB': (idle.held - empty.held) / sessions / 1000,
        'its own audio kB': audio / 1000,
        'resident kB': (active.rss - empty.rss) / sessions / 1000,
      },
    };
  } finally {
    load.stop();
    await subject.stop();
  }
}

/** @type {import('../measure/turns.js').Benchmark} */
export const sessionMemory = {
  name: 'session-memory',
  figure: 'memory of an active parrot session, beside its own audio',
  unit: 'kB',
  turns: 2,
  goal: { of: 'value', atMost: 50, text: '≤ 50 kB' },
  program: async () => bytesPerSession(await startEmulator({ args: ['--reply', 'parrot'] })),
};

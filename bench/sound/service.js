import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ahead } from '../../test/helpers/ahead.js';
import { makeMurmur } from '../../test/helpers/murmur.js';
import { frameBytes, frameMs } from '../load/audio.js';

const floor = fileURLToPath(new URL('../floors/voice.js', import.meta.url));
/** What the service says, over and over. */
const voice = makeMurmur(60);
const frames = voice.length / frameBytes;

/**
 * A voice service in a process of its own, that speaks in real time and says when each frame left. It can be told to
 * `echo` what comes, and to be `silent`.
 */
export async function startService() {
  const [execPath = process.execPath, ...execArgv] = [...ahead, process.execPath];
  const child = fork(floor, { execPath, execArgv });
  /** @type {Map<number, number>} frame → ms */
  const departures = new Map();
  let isLive = false;
  let last = 0;
  /** @type {(url: string) => void} */
  let open = () => {};
  /** @type {Promise<string>} */
  const opened = new Promise((resolve) => {
    open = resolve;
  });
  child.on(
    'message',
    (/** @type {{ url?: string, live?: boolean, frame?: number, at?: number }} */ message) => {
      if (message.url !== undefined) open(message.url);
      if (message.live !== undefined) isLive = message.live;
      if (message.frame === undefined || message.at === undefined) return;
      last = message.frame;
      departures.set(message.frame, message.at);
      departures.delete(message.frame - 3_000);
    },
  );
  const url = await opened;
  return {
    url,
    pid: /** @type {number} */ (child.pid),
    /** @param {'speak' | 'echo' | 'silent'} mode */
    become: (mode) => child.send({ mode }),
    /** @param {object} message */
    send: (message) => child.send({ message }),
    get isLive() {
      return isLive;
    },
    /** Frames that left so long ago, as one piece, and when the first of them did. @param {number} count @param {number} agoMs */
    piece(count, agoMs) {
      const first = last - Math.round(agoMs / frameMs) - count + 1;
      const leftAt = departures.get(first);
      if (leftAt === undefined) return undefined;
      const parts = Array.from({ length: count }, (_, i) => {
        const from = ((first + i) % frames) * frameBytes;
        return voice.subarray(from, from + frameBytes);
      });
      return { leftAt, samples: toSamples(Buffer.concat(parts)) };
    },
    close() {
      child.kill('SIGKILL');
    },
  };
}

/** @param {Buffer} pcm */
export function toSamples(pcm) {
  return Int16Array.from({ length: pcm.length / 2 }, (_, i) => pcm.readInt16LE(i * 2));
}

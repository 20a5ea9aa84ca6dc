/**
 * A reply module with a tiny dialogue. Run it with
 *
 *   npx voicectl serve --reply module:examples/dialogue.js
 *
 * It replies to each of the first three turns with as many beeps as there were turns, and to the fourth by repeating it.
 */
import { playPcm, takeTurns } from 'voicectl';

const sampleRate = 16_000;

/**
 * A beep of 150 ms and a pause of the same length, as 16 kHz s16le mono.
 * @param {number} hz
 */
function beep(hz) {
  const pcm = Buffer.alloc(sampleRate * 0.3 * 2);
  for (let i = 0; i < sampleRate * 0.15; i += 1) {
    pcm.writeInt16LE(Math.round(6_000 * Math.sin((2 * Math.PI * hz * i) / sampleRate)), i * 2);
  }
  return pcm;
}

/**
 * Called for each stream; `voice` speaks, sends and reports.
 * @param {import('voicectl').Voice} voice
 * @returns {import('voicectl').Reply}
 */
export function createReply(voice) {
  let turns = 0;
  return takeTurns((utterance) => {
    turns += 1;
    if (turns > 3) return playPcm(utterance);
    return playPcm(Buffer.concat(Array.from({ length: turns }, () => beep(660))));
  })(voice);
}

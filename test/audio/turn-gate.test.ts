import { expect, test } from 'vitest';
import { TurnGate } from '../../src/audio/turn-gate.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { framesOf, silence, speech } from '../helpers/pcm.ts';

function start(shortestTurnMs = 0) {
  const clock = createManualClock();
  const log: string[] = [];
  const listener = {
    started: (turn: { startMs: number; agoMs: number }) => log.push(`at ${turn.startMs}, ${turn.agoMs} ago`),
    ended: (turn: { startMs: number; endMs: number; agoMs: number }) =>
      log.push(`${turn.startMs} to ${turn.endMs}, ${turn.agoMs} ago`),
  };
  const gate = new TurnGate(listener, { clock, shortestTurnMs });
  /** At real-time pace. */
  const hear = (pcm: Buffer, frameMs = 20) => {
    for (const frame of framesOf(pcm, frameMs)) {
      gate.push(frame);
      clock.advance(frameMs);
    }
  };
  return { clock, log, gate, hear };
}

test('a turn is told once it is long enough, and after the pause that ends it', () => {
  const { log, hear } = start(400);
  hear(Buffer.concat([silence(200), speech(300), silence(1_000), speech(600), silence(1_000)]));
  expect(log).toEqual(['at 1500, 400 ago', '1500 to 2100, 700 ago']);
});

test('without a shortest turn, it is told as soon as it is a sound', () => {
  const { log, hear } = start();
  hear(speech(200));
  expect(log).toEqual(['at 0, 80 ago']);
});

test('the age of a turn counts time in which nothing arrived', () => {
  const { clock, log, gate, hear } = start();
  hear(speech(500));
  clock.advance(679);
  expect(log).toEqual(['at 0, 80 ago']);
  clock.advance(1);
  expect(log.slice(1)).toEqual(['0 to 500, 700 ago']);
  expect(gate.speaking).toBe(false);
});

test('audio that ends ends a turn, but does not make one of a short sound', () => {
  const [long, short] = [start(400), start(400)];
  long.hear(speech(500));
  long.gate.finish();
  expect(long.log.slice(1)).toEqual(['0 to 500, 20 ago']);
  short.hear(speech(300));
  short.gate.finish();
  expect(short.log).toEqual([]);
});

test('a turn that is treated as ended is told no more, and the next one is', () => {
  const { log, gate, hear } = start();
  expect(gate.endTurn()).toBe(false);
  hear(speech(300));
  expect(gate.endTurn()).toBe(true);
  expect(gate.endTurn()).toBe(false);
  hear(Buffer.concat([speech(300), silence(1_000), speech(100)]));
  expect(log).toEqual(['at 0, 80 ago', '0 to 300, 20 ago', 'at 1600, 80 ago']);
});

test('after close, silence ends nothing', () => {
  const { clock, log, gate, hear } = start();
  hear(speech(300));
  gate.close();
  clock.advance(10_000);
  expect(log).toHaveLength(1);
});

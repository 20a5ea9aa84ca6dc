import { pcmBytes } from '../../src/audio/whole-pcm.ts';
import type { CreateReply, Reply, Voice } from '../../src/emulator/replies/reply.ts';
import type { Playable } from '../../src/service/streams/playable.ts';
import { createManualClock } from './manual-clock.ts';

/** A reply with a voice that writes down what it is told, in order. */
export function speakWith(createReply: CreateReply) {
  const clock = createManualClock();
  const log: string[] = [];
  const said: Buffer[] = [];
  const sent: Buffer[] = [];
  let speaking = false;
  const voice: Voice = {
    stream: 1,
    device: 'd1',
    clock,
    shortestTurnMs: 0,
    get speaking() {
      return speaking;
    },
    send: (pcm) => sent.push(pcmBytes(pcm)),
    say(playable) {
      log.push('say');
      said.push(readAll(playable));
      speaking = true;
    },
    stop() {
      log.push('stop');
      speaking = false;
    },
    fail: (why) => log.push(`failed: ${why}`),
    status: (state) => log.push(state),
    error: (code, message) => log.push(`error ${code}: ${message}`),
    message: (body) => log.push(JSON.stringify(body)),
    text: (text) => log.push(text),
    close(code, reason) {
      log.push(`close ${code} ${reason}`);
      reply.close?.();
    },
    turnStarted: (atMs) => log.push(`turn at ${atMs}`),
    turnEnded: (atMs, turnMs) => log.push(`turn of ${turnMs} ended at ${atMs}`),
  };
  const reply: Reply = createReply(voice);
  return {
    clock,
    log,
    said,
    sent,
    reply,
    /** Gives audio in frames of 20 ms, as fast as possible. */
    hear(pcm: Buffer, frameBytes = 640) {
      for (let at = 0; at < pcm.length; at += frameBytes) reply.hear(pcm.subarray(at, at + frameBytes));
    },
    finishSpeaking() {
      speaking = false;
      reply.said?.();
    },
  };
}

function readAll(playable: Playable): Buffer {
  const frames: Buffer[] = [];
  for (let frame = playable.read(640); frame !== undefined; frame = playable.read(640)) frames.push(frame);
  return Buffer.concat(frames);
}

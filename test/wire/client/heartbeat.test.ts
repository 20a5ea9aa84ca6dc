import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startHeartbeat } from '../../../src/wire/client/connect.ts';
import { createCountedClock } from '../../helpers/counted-clock.ts';

/** As much of a socket as a heartbeat uses. */
class Peer extends EventEmitter {
  readyState: number = WebSocket.OPEN;
  isPaused = false;
  pings = 0;
  deaths = 0;
  clock = createCountedClock();
  heartbeat = startHeartbeat(this as unknown as WebSocket, {
    clock: this.clock,
    ping: () => this.ping(),
    onDead: () => {
      this.deaths += 1;
    },
  });

  ping(): void {
    this.pings += 1;
  }
}

describe('the heartbeat', () => {
  test('pings every 15 s, and continues while the pings are answered', () => {
    const peer = new Peer();
    for (let beat = 1; beat <= 20; beat += 1) {
      peer.clock.advance(14_999);
      expect(peer.pings).toBe(beat - 1);
      peer.clock.advance(1);
      expect(peer.pings).toBe(beat);
      peer.emit('pong');
    }
    expect(peer.deaths).toBe(0);
  });

  test('declares a peer dead once, at most 30 s after its last sign of life', () => {
    const peer = new Peer();
    peer.clock.advance(15_000);
    peer.emit('pong');
    peer.clock.advance(29_999);
    expect(peer.deaths).toBe(0);
    peer.clock.advance(1);
    expect(peer.deaths).toBe(1);
    expect(peer.clock.pending).toEqual([]);
  });

  test.each(['message', 'ping', 'pong'])('counts a %s as a sign of life', (event) => {
    const peer = new Peer();
    for (let beat = 0; beat < 10; beat += 1) {
      peer.clock.advance(15_000);
      peer.emit(event);
    }
    expect(peer.deaths).toBe(0);
  });

  test('does not blame the peer while we do not read', () => {
    const peer = new Peer();
    peer.isPaused = true;
    peer.clock.advance(120_000);
    expect(peer.deaths).toBe(0);
    // Reading again counts as a sign of life: the answers may wait behind audio.
    peer.isPaused = false;
    peer.heartbeat.beat();
    peer.clock.advance(15_000);
    expect(peer.deaths).toBe(0);
    peer.clock.advance(15_000);
    expect(peer.deaths).toBe(1);
  });

  test('sends no ping into a stream that is closing', () => {
    const peer = new Peer();
    peer.readyState = WebSocket.CLOSING;
    peer.clock.advance(15_000);
    expect(peer.pings).toBe(0);
  });

  test('leaves no timer when stopped', () => {
    const peer = new Peer();
    peer.clock.advance(15_000);
    peer.heartbeat.stop();
    expect(peer.clock.pending).toEqual([]);
  });
});

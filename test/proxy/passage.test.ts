import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { Passage, type PassageOptions, WaitingBytes } from '../../src/proxy/passage.ts';

/** A passage from a source to a reader that takes nothing until it drains. */
function passageTo(waiting = new WaitingBytes()) {
  const calls: string[] = [];
  const transport = Object.assign(new EventEmitter(), { writableLength: 0 });
  const socket = Object.assign(new EventEmitter(), {
    ...{ readyState: 1, OPEN: 1, pause: () => calls.push('pause'), resume: () => calls.push('resume') },
    send(data: Buffer) {
      transport.writableLength += data.length;
    },
  });
  const source = Object.assign(new EventEmitter(), socket);
  const passage = new Passage({
    ...{ from: 'service', source: { socket: source, transport }, sink: { socket, transport }, waiting },
    onSlowReader: () => calls.push('cut off'),
  } as unknown as PassageOptions);
  return {
    calls,
    send: (bytes: number) => passage.send(Buffer.alloc(bytes), true),
    close: () => socket.emit('close'),
    drain() {
      transport.writableLength = 0;
      transport.emit('drain');
    },
  };
}

describe('a reader that is too slow', () => {
  test.each(['drain', 'close'] as const)('holds up its source until its %s', (end) => {
    const reader = passageTo();
    reader.send(100_000);
    reader.send(100_000);
    expect(reader.calls).toEqual(['pause']);
    reader[end]();
    expect(reader.calls).toEqual(['pause', 'resume']);
  });

  test('is cut off if too much waits in all and it became slow last, but not if it has caught up', () => {
    const waiting = new WaitingBytes();
    const [first, second] = [passageTo(waiting), passageTo(waiting)];
    first.send(100_000);
    second.send(100_000);
    second.drain();
    first.send(33 * 1024 * 1024);
    expect(first.calls).toEqual(['pause', 'cut off']);
    expect(second.calls).toEqual(['pause', 'resume']);
  });
});

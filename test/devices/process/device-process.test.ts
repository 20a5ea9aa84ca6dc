import { EventEmitter } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { startDeviceProcess } from '../../../src/devices/process/device-process.ts';
import { systemClock } from '../../../src/kernel/clock.ts';

/** What spawn gives back where no descriptor is left: no streams, and an error that comes later. */
const withoutStreams = vi.hoisted(() => ({ child: undefined as unknown }));
vi.mock('node:child_process', async (original) => ({
  ...(await original<typeof import('node:child_process')>()),
  spawn: () => withoutStreams.child,
}));

describe('a device process without a free descriptor', () => {
  test('is a device that cannot be opened, and its late error does not crash', () => {
    const child = new EventEmitter();
    withoutStreams.child = child;
    const start = () =>
      startDeviceProcess({ command: 'parec', args: [], env: {}, pcm: 'stdout' }, systemClock);
    expect(start).toThrow(
      expect.objectContaining({
        code: 'audio-device',
        message: 'cannot be started: too many open files',
      }),
    );
    expect(() => child.emit('error', new Error('spawn EMFILE'))).not.toThrow();
  });
});

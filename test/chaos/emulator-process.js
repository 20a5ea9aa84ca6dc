import { readdirSync } from 'node:fs';
import { createEmulator } from '../../dist/index.js';

/**
 * The emulator in a process of its own, so that it can be stopped and measured from outside. Run with
 * `--expose-gc` and an IPC channel; answers each `measure` with its memory and descriptors.
 */
const emulator = await createEmulator({ reply: process.argv[2], seed: 1, rateLimit: 1_000_000 });
process.on('message', async () => {
  // What was just closed is released within a few turns of the event loop.
  for (let round = 0; round < 5; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc();
  }
  process.send({
    heapBytes: process.memoryUsage().heapUsed,
    descriptors: readdirSync('/proc/self/fd').length,
    state: emulator.control.state(),
  });
});
process.send({ baseUrl: emulator.baseUrl, wsUrl: emulator.wsUrl });

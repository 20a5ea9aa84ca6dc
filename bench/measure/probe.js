/**
 * Loaded into a process that is measured, program or floor alike, with `--import`: tells its parent on request what
 * the process has used. `memory` collects garbage first, so that what is counted is held by somebody.
 */
process.on('message', (/** @type {{ ask?: string }} */ message) => {
  if (message.ask === 'cpu') {
    const { user, system } = process.cpuUsage();
    process.send?.({ answer: 'cpu', ms: (user + system) / 1000, system: system / 1000 });
  }
  if (message.ask === 'memory') {
    // Buffers that one collection frees are counted until the next.
    global.gc?.();
    global.gc?.();
    const { heapUsed, external, rss } = process.memoryUsage();
    process.send?.({ answer: 'memory', held: heapUsed + external, rss });
  }
});
process.once('exit', () => {
  // In kilobytes, whatever the system counts in.
  const { user, system } = process.cpuUsage();
  const cpuMs = (user + system) / 1000;
  process.send?.({ answer: 'peak', bytes: process.resourceUsage().maxRSS * 1024, cpuMs });
});
// Being asked is no reason to stay alive.
process.channel?.unref();

import { performance } from 'node:perf_hooks';
import type { Clock } from '../../kernel/clock.ts';
import { watchLateness } from '../../kernel/lateness.ts';
import { version } from '../../kernel/version.ts';
import { createTimeClasses, gauge, type MetricFamily } from './family.ts';

/** What a process says of itself. */
export interface OwnMetrics {
  families(): MetricFamily[];
  close(): void;
}

/**
 * Memory, processor time and lateness of this process. It is watched from now on: before the first scrape nobody asks. `emulator`:
 * the name of this emulator, where several are one service.
 */
export function watchSelf(clock: Clock, command: string, emulator?: () => string): OwnMetrics {
  const late = createTimeClasses();
  const watch = watchLateness(clock, (ms) => late.add(ms));
  return {
    families() {
      const { user, system } = process.cpuUsage();
      const named = emulator === undefined ? {} : { emulator: emulator() };
      return [
        {
          name: 'voicectl_build_info',
          help: 'The program, and where several emulators are one service which of them answers: the other metrics are its own',
          type: 'gauge',
          samples: [{ labels: { version, command, ...named }, value: 1 }],
        },
        {
          name: 'voicectl_lateness_seconds',
          help: 'How late this process looks at the clock, every 50 ms since the first scrape',
          type: 'histogram',
          samples: late.samples(),
        },
        {
          name: 'process_cpu_seconds',
          help: 'Processor time of this process',
          type: 'counter',
          samples: [{ labels: {}, value: (user + system) / 1e6 }],
        },
        gauge('process_resident_memory_bytes', 'Memory of this process', process.memoryUsage.rss()),
        gauge(
          'process_start_time_seconds',
          'When this process started, since the epoch',
          performance.timeOrigin / 1000,
        ),
      ];
    },
    close: () => watch.stop(),
  };
}

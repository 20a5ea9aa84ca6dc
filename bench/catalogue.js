import { echoCpu, echoHeld, oneConnection } from './benchmarks/echo.js';
import { sessionMemory } from './benchmarks/session-memory.js';
import { spokenTo } from './benchmarks/spoken-to.js';
import { help, token, version } from './benchmarks/start-up.js';
import { tokenRate } from './benchmarks/token-rate.js';

/**
 * Every benchmark, in the order of the table.
 *
 * @type {import('./measure/turns.js').Benchmark[]}
 */
export const catalogue = [
  version,
  help,
  token,
  tokenRate,
  echoHeld,
  echoCpu,
  spokenTo,
  oneConnection,
  sessionMemory,
];

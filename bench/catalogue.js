import { echoCpu, echoHeld, oneConnection, scraped } from './benchmarks/echo.js';
import { growth, soakFor } from './benchmarks/growth.js';
import { loadCpu, loadHeard, loadLateness } from './benchmarks/load.js';
import { loadTruth } from './benchmarks/load-truth.js';
import { peerBenchmarks } from './benchmarks/peers.js';
import { proxied, proxiedMemory, relayedTcp } from './benchmarks/proxied.js';
import { servePage } from './benchmarks/serve-page.js';
import { serveScreen } from './benchmarks/serve-screen.js';
import { sessionMemory } from './benchmarks/session-memory.js';
import { spokenTo } from './benchmarks/spoken-to.js';
import { help, token, version, versionWritten } from './benchmarks/start-up.js';
import { firstTuiFrame, pacingBesideTui, pacingPlain } from './benchmarks/terminal.js';
import { tokenRate, tokenRateShared, tokenRateSigned } from './benchmarks/token-rate.js';
import { wavMemory } from './benchmarks/wav-memory.js';

/**
 * Every benchmark, in the order of the table. `peers` is a folder in which they are installed.
 *
 * @param {{ minutes: number, peers: string | undefined }} options
 * @returns {import('./measure/turns.js').Benchmark[]}
 */
export function createCatalogue({ minutes, peers }) {
  return [
    version,
    versionWritten,
    help,
    token,
    firstTuiFrame,
    tokenRate,
    tokenRateSigned,
    tokenRateShared,
    echoHeld,
    echoCpu,
    spokenTo,
    oneConnection,
    proxied,
    relayedTcp,
    sessionMemory,
    pacingBesideTui,
    pacingPlain,
    serveScreen,
    servePage,
    wavMemory,
    loadLateness,
    loadCpu,
    loadHeard,
    loadTruth,
    growth,
    ...(peers === undefined ? [] : peerBenchmarks(peers)),
    scraped,
    soakFor(minutes),
    proxiedMemory,
  ];
}

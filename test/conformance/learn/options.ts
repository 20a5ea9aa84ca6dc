import { readFileSync } from 'node:fs';
import { inferDialect } from '../../../src/conformance/learn/infer.ts';
import type { LearnOptions } from '../../../src/conformance/learn/learn.ts';
import type { Emulator } from '../../../src/emulator/emulator.ts';
import { createRedactor } from '../../../src/kernel/redact.ts';
import { bytesForMs } from '../../../src/protocol/audio-format.ts';
import type { Seen } from '../../../src/rules/rule.ts';
import { hastyClock } from '../../helpers/hasten.ts';

const hello = readFileSync(new URL('../../../fixtures/hello.wav', import.meta.url));
/** Enough to be heard as a turn. */
const speech = hello.subarray(44, 44 + bytesForMs(600));

/** Everything is asked, and the emulator's clock moved in place of waiting. */
export function learnOptions({ baseUrl, wsUrl }: Pick<Emulator, 'baseUrl' | 'wsUrl'>): LearnOptions {
  return {
    subject: { baseUrl, wsUrl, apiKey: 'key-1', ca: undefined, caFile: undefined },
    devices: ['d1'],
    scope: {
      levels: new Set(['base', 'standard', 'exhaust']),
      rules: [],
      isAlone: false,
      wrongKey: true,
      isSecure: false,
      isLoopback: true,
      waitMs: 10_000,
    },
    speech,
    clock: hastyClock,
    signal: new AbortController().signal,
    redactor: createRedactor(),
    isEmulator: true,
  };
}

/** The values that are learned from these exchanges, by their paths. */
export function learnedFrom(seen: readonly Seen[]): Record<string, unknown> {
  const { settings } = inferDialect(seen, 10_000);
  return Object.fromEntries(
    settings.flatMap(({ setting: { path }, learned }) => ('value' in learned ? [[path, learned.value]] : [])),
  );
}

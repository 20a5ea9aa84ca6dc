import { appendScript, clearJournalScript } from './journal.ts';
import { advanceScript, faultsScript, joinScript, leaveScript, pulseScript, returnScript } from './life.ts';
import type { Script } from './script.ts';
import { leaseScript, releaseScript, renewScript } from './slots.ts';
import { spendScript } from './tokens.ts';
import { countScript, forgetScript, restoreWindowScript, surveyScript, timeScript } from './window.ts';

/** All scripts. Each connection loads them when it begins. */
export const allScripts: readonly Script[] = [
  advanceScript,
  clearJournalScript,
  countScript,
  faultsScript,
  forgetScript,
  joinScript,
  leaseScript,
  leaveScript,
  appendScript,
  pulseScript,
  releaseScript,
  renewScript,
  restoreWindowScript,
  returnScript,
  spendScript,
  surveyScript,
  timeScript,
];

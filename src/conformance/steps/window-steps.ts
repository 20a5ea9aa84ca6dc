import { tokenRequestsPerWindow } from '../../protocol/rate-limit.ts';
import { isGranted, tokenAnswers } from '../../rules/token-seen.ts';
import type { Asker } from '../asker.ts';
import type { Step } from './step.ts';
import { laterTokenStep } from './token-steps.ts';

const withinMs = 30_000;
const afterMs = 61_000;
/** 61 requests within 15 s: twice the usual pace. */
const hurry = 2;
const perSecond = 4;
const burst = tokenRequestsPerWindow + 1;

/** Two requests of the second device, within its window and after it. */
export const windowSteps: readonly Step[] = [
  windowStep('W30', 'the second device again, 30 s later', withinMs),
  windowStep('W61', 'the second device again, 61 s later', afterMs),
];

function windowStep(id: string, title: string, ms: number): Step {
  return laterTokenStep(id, title, { device: 'second' }, { step: 'E3', ms, level: 'standard', uses: ['E3'] });
}

/** A separate device, until it is refused; and again when its window has passed. */
export const exhaustSteps: readonly Step[] = [
  {
    id: 'X',
    title: `${burst} requests from a throwaway device`,
    level: 'exhaust',
    cost: { tokens: burst, plain: 0, connections: 0 },
    device: 'exhausted',
    exchanges: Array.from({ length: burst }, (_, index) => `X-${index + 1}`),
    takesMs: (burst / perSecond) * 1000,
    run: exhaust,
  },
  laterTokenStep(
    'X61',
    'the same device, after its window has passed',
    { device: 'exhausted', provoked: true },
    { step: 'X', request: 'X-1', ms: afterMs, level: 'exhaust', uses: ['X'] },
  ),
];

async function exhaust(ask: Asker): Promise<void> {
  for (let count = 1; count <= burst; count += 1) {
    const seen = await ask.token(`X-${count}`, { device: 'exhausted', provoked: true, hurry });
    if (!tokenAnswers([seen]).some(isGranted)) return;
  }
}

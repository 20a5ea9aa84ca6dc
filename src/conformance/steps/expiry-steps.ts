import type { Asker } from '../asker.ts';
import { noCost, oneConnection } from '../cost.ts';
import type { Step } from './step.ts';
import { presentToken } from './stream-steps.ts';
import { tokenStep } from './token-steps.ts';

/** Ages in seconds at which a token is presented: a valid one, then expired ones until the first refusal. */
const validAge = 55;
const expiredAges: readonly number[] = [62, 66, 72, 91, 121];
/** How long the stream of the valid one is held, from the issue of its token. */
const heldSeconds = 75;
/** Without a `jti`, tokens of the same second are identical. */
const apartMs = 1_100;

const ages = [validAge, ...expiredAges];

/** Tokens that are requested at the start and presented late. */
export const expiryTokenSteps: readonly Step[] = ages.map((age, index) => {
  const after = index === 0 ? {} : { after: { step: `T${ages[index - 1]}`, ms: apartMs } };
  return tokenStep(`T${age}`, `a token to present after ${age} s`, {}, { level: 'standard', ...after });
});

export const expiryShowSteps: readonly Step[] = [
  ...ages.map(
    (age): Step => ({
      id: `A${age}`,
      title:
        age === validAge
          ? `a token after ${age} s`
          : `a token after ${age} s, unless an earlier one was refused`,
      level: 'standard',
      cost: oneConnection,
      uses: [`T${age}`],
      after: { step: `T${age}`, ms: age * 1000 },
      async run(ask) {
        const earlier = expiredAges.filter((other) => other < age && age !== validAge);
        // The first refusal shows everything: later ones show nothing more.
        if (earlier.some((other) => wasRefused(ask, `A${other}`))) return;
        const token = ask.tokenOf(`T${age}`);
        const line = await ask.open(`A${age}`);
        await presentToken(ask, line, token);
        if (age !== validAge) await line.close();
      },
    }),
  ),
  {
    ...{ id: 'A55-end', title: `the stream of A55, ${heldSeconds} s after its token`, level: 'standard' },
    cost: noCost,
    uses: ['A55'],
    after: { step: 'T55', ms: heldSeconds * 1000 },
    async run(ask) {
      await ask.settle();
      await ask.lineOf('A55').close();
    },
  },
];

function wasRefused(ask: Asker, id: string): boolean {
  try {
    return !ask.lineOf(id).isConfirmed;
  } catch {
    return false;
  }
}

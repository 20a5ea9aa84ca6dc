import type { Rule } from '../rule.ts';
import { audioRules } from './audio.ts';
import { endingRules } from './endings.ts';
import { requestRules } from './requests.ts';
import { tokenRules } from './tokens.ts';

/**
 * What the specification, or good practice, requires of a device, that traffic alone can show. The others of D1
 * to D17 need a situation that is created first: see `conformance/drill`.
 */
export const deviceRules: readonly Rule[] = [
  ...requestRules,
  ...tokenRules,
  ...audioRules,
  ...endingRules,
].sort((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)));

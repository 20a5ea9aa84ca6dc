/**
 * An AI that goes on for this long after an interruption does not yield, in milliseconds: no limit on a yield is longer. A
 * file of its own because pages load it with the rules of turn-taking, and load no limits.
 */
export const neverYieldsMs = 2_000;

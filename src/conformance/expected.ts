import { VoicectlError } from '../kernel/errors.ts';
import { serviceRules } from '../rules/catalogue.ts';

/**
 * Rules that are known to fail: an id a line, and the reason behind it. Empty lines and those that begin with `#` say
 * nothing. Throws `bad-input` for an id that no rule has, or one without a reason.
 */
export function readExpected(text: string, file: string): Map<string, string> {
  const expected = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    const [id = '', ...reason] = line.trim().split(/\s+/);
    if (id === '' || id.startsWith('#')) continue;
    const where = `${file}, line ${index + 1}`;
    expected.set(
      findRule(id, (what) => new VoicectlError('bad-input', `${where}: ${what}`)),
      reason.join(' '),
    );
    if (reason.length === 0) throw new VoicectlError('bad-input', `${where}: ${id} has no reason`);
  }
  return expected;
}

/** The id of a rule in the form of the catalogue. Throws the error that `refuse` makes. */
export function findRule(id: string, refuse: (what: string) => Error): string {
  const rule = serviceRules.find((one) => one.id.toLowerCase() === id.toLowerCase());
  if (rule === undefined) throw refuse(`there is no rule ${id}; rules are R1 to R${serviceRules.length}`);
  return rule.id;
}

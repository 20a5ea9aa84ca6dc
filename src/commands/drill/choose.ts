import { situations } from '../../conformance/drill/catalogue.ts';
import type { Situation } from '../../conformance/drill/situation.ts';
import { VoicectlError } from '../../kernel/errors.ts';

/** The situations that are asked for, in the order of the catalogue. Throws `usage` for an id that none has. */
export function chooseSituations(ids: readonly string[]): readonly Situation[] {
  if (ids.length === 0) return situations;
  const wanted = ids.map((id) => id.trim().toLowerCase());
  const isMeant = ({ id }: Situation, want: string) => {
    const own = id.toLowerCase();
    return own === want || own.split('-')[0] === want;
  };
  for (const [index, want] of wanted.entries()) {
    if (!situations.some((situation) => isMeant(situation, want)))
      throw new VoicectlError('usage', `--drill: there is no situation ${ids[index]}`, {
        hint: '`voicectl drill --list` shows all situations.',
      });
  }
  return situations.filter((situation) => wanted.some((want) => isMeant(situation, want)));
}

import { VoicectlError } from '../kernel/errors.ts';
import { shortText } from '../kernel/short-text.ts';
import { didYouMean } from '../protocol/suggestion.ts';
import { emulatorEventTypes } from './events.ts';

/** Throws `usage` for a type of event that does not exist: waiting or looking for it would find nothing, silently. */
export function requireEventType(type: string): void {
  if (emulatorEventTypes.includes(type)) return;
  const meant = didYouMean(type, emulatorEventTypes);
  throw new VoicectlError('usage', `There is no event of type ${shortText(type)}${meant}`, {
    hint: `The types are ${emulatorEventTypes.join(', ')}.`,
  });
}

import { concealUrl } from '../kernel/secret-fields.ts';
import { shortText } from '../kernel/short-text.ts';
import { concealTokens } from '../wire/conceal.ts';
import type { EmulatorEvents } from './events.ts';

/** The path of a request for an event: without what grants access, and short. */
export function eventPath(path: string, { redact }: Pick<EmulatorEvents, 'redact'>): string {
  return shortText(concealTokens(redact(concealUrl(path))));
}

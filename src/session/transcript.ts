import { beginningOf } from '../kernel/short-text.ts';
import type { Spoken } from '../protocol/transcript.ts';
import type { SessionSummary } from './summary.ts';

type Line = NonNullable<SessionSummary['transcript']>[number];

/** Maximum number of lines that are kept. */
const maxLines = 200;
/** Maximum characters of a line. */
const maxLength = 2_000;

/** Collects the transcripts that a service sends. */
export interface Transcript {
  readonly lines: readonly Line[];
  /** `t`: milliseconds since the session began. */
  add(spoken: Spoken | undefined, t: number): void;
}

/**
 * If there are too many lines, later ones are left out; with `keepsNewest` the oldest. `clean` gets each text as a whole:
 * it removes secrets, also one that came in pieces, or escapes what is to be shown.
 */
export function createTranscript({ keepsNewest = false, clean = (text: string) => text } = {}): Transcript {
  const lines: Line[] = [];
  /** The lines that may still change, by speaker. */
  const open = new Map<Line['who'], { line: Line; text: string }>();
  return {
    lines,
    add(spoken, t) {
      if (spoken === undefined) return;
      const { who = null, text, isPart } = spoken;
      const begun = open.get(who);
      // The next part is either a new version of the text, or the next piece of it.
      const grown = begun === undefined || !isPart || text.startsWith(begun.text) ? text : begun.text + text;
      const line = begun?.line ?? { t, who, text: '' };
      // A secret may begin in one part and end in the next, and behind the end of the line.
      const kept = beginningOf(grown, 2 * maxLength);
      line.text = beginningOf(clean(kept), maxLength);
      if (begun === undefined && keepsNewest && lines.length === maxLines) lines.shift();
      if (begun === undefined && lines.length < maxLines) lines.push(line);
      if (isPart) open.set(who, { line, text: kept });
      else open.delete(who);
    },
  };
}

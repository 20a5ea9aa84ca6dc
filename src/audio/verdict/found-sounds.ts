import { findingAdvice, isCauseOf, type SpeakingSide, type VoiceFinding } from './voice-findings.ts';

/** What can be heard in a voice, whatever its format. */
export type SoundKind =
  | 'clipping'
  | 'click'
  | 'dropout'
  | 'repeat'
  | 'cut-off'
  | 'cut-on'
  | 'noise'
  | 'narrow-band'
  | 'quiet-voice'
  | 'loud-voice'
  | 'level-jump';

/** Something that was heard. Places are counted in samples since the voice began. */
export interface HeardSound {
  kind: SoundKind;
  /** Whether there is no other explanation. */
  isCertain: boolean;
  at: number;
  length: number;
  figure: { value: number; unit: string };
}

/** Called with what was heard. */
export type ReportSound = (heard: HeardSound) => void;

/** What was found in a voice. */
export interface FoundInVoice {
  finding: VoiceFinding;
  /** The finding as text. */
  remark: string;
  /** Set if there is another explanation: then it is worth a look, but not proof. */
  isDoubtful?: true;
  /** Where it is in the audio of this side, and its length. Missing if it is about all of it. */
  atMs?: number;
  lengthMs?: number;
  /** How long before it was found it was heard; below 0 it is still to be played. Missing if it is about all of the audio. */
  agoMs?: number;
  figure?: { value: number; unit: string };
  /** What to do. Default: the advice of the finding. */
  advice?: string;
}

/** A finding as it is published. */
export interface VoiceJudgement {
  kind: VoiceFinding;
  side: SpeakingSide;
  /** `remark`: worth a look, but not proof. */
  is: 'finding' | 'remark';
  text: string;
  /** The first place and its length in the audio of this side; null if it is about all of it. */
  atMs: number | null;
  lengthMs: number | null;
  figure: { value: number; unit: string } | null;
  advice: string | null;
  /** How often it was found. */
  times: number;
}

/** Findings of a moment can only be explained by something near them. */
const ofMoments: ReadonlySet<VoiceFinding> = new Set(['click', 'dropout']);
const nearMs = 500;
/** How many places of a cause are kept, newest last, and how many findings of a kind, oldest first. */
const mostPlaces = 32;
const mostKept = 64;

/** From and to, in milliseconds. */
type Place = [from: number, to: number];

interface OfKind {
  kept: FoundInVoice[];
  /** How many were found in addition to those that are kept. */
  more: number;
  places: Place[];
}

/** A finding without a place is about all of the audio. */
function placeOf({ atMs, lengthMs = 0 }: FoundInVoice): Place {
  return atMs === undefined ? [0, Number.POSITIVE_INFINITY] : [atMs, atMs + lengthMs];
}

/** The findings in one voice. Knows which are only caused by others. */
export class FoundSounds {
  private readonly kinds = new Map<VoiceFinding, OfKind>();

  has(finding: VoiceFinding): boolean {
    return this.kinds.has(finding);
  }

  forget(finding: VoiceFinding): void {
    this.kinds.delete(finding);
  }

  /** Keeps a finding. Returns it if nothing explains it, and it is the first, or the first certain one, of its kind. */
  add(one: FoundInVoice): readonly FoundInVoice[] {
    if (this.isExplained(one)) return [];
    const known = this.kinds.get(one.finding) ?? { kept: [], more: 0, places: [] };
    const isNews = known.kept.every((other) => other.isDoubtful && !one.isDoubtful);
    this.kinds.set(one.finding, known);
    addPlace(known.places, placeOf(one));
    if (known.kept.length < mostKept) known.kept.push(one);
    else {
      known.more += 1;
      if (isNews) known.kept[mostKept - 1] = one;
    }
    return isNews ? [withAdvice(one)] : [];
  }

  /** Whether another finding causes it. A certain finding needs a certain cause. */
  isExplained(effect: FoundInVoice): boolean {
    for (const [kind, cause] of this.kinds)
      if (
        isCauseOf(kind, effect.finding) &&
        (effect.isDoubtful || cause.kept.some(({ isDoubtful }) => !isDoubtful)) &&
        (!ofMoments.has(effect.finding) || isNear(cause, effect))
      )
        return true;
    return false;
  }

  /** All findings so far, except those that others explain. */
  judgements(side: SpeakingSide, isLeftOut: (finding: VoiceFinding) => boolean): VoiceJudgement[] {
    return [...this.kinds].flatMap(([kind, { kept, more }]) => {
      const left = isLeftOut(kind) ? [] : kept.filter((one) => !this.isExplained(one));
      const one = left.find(({ isDoubtful }) => !isDoubtful) ?? left[0];
      return one === undefined ? [] : [judgementOf(one, side, left.length + more)];
    });
  }
}

function judgementOf(one: FoundInVoice, side: SpeakingSide, times: number): VoiceJudgement {
  return {
    kind: one.finding,
    side,
    is: one.isDoubtful ? 'remark' : 'finding',
    text: one.remark,
    atMs: one.atMs ?? null,
    lengthMs: one.lengthMs ?? null,
    figure: one.figure ?? null,
    advice: withAdvice(one).advice ?? null,
    times,
  };
}

/** Adds advice to a finding, if there is any. */
export function withAdvice<One extends { finding: VoiceFinding; advice?: string }>(one: One): One {
  const advice = one.advice ?? findingAdvice(one.finding);
  return advice === undefined ? one : { ...one, advice };
}

/** Adds a place, joining it with one that is near. */
function addPlace(places: Place[], [from, to]: Place): void {
  const last = places.at(-1);
  if (last !== undefined && from - nearMs <= last[1] && last[0] <= to + nearMs) {
    last[0] = Math.min(last[0], from);
    last[1] = Math.max(last[1], to);
    return;
  }
  places.push([from, to]);
  if (places.length > mostPlaces) places.shift();
}

function isNear({ places }: OfKind, effect: FoundInVoice): boolean {
  const [from, to] = placeOf(effect);
  return places.some(([start, end]) => start - nearMs <= to && from <= end + nearMs);
}

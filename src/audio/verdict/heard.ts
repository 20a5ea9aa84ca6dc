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

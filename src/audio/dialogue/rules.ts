import { neverYieldsMs } from '../../kernel/never-yields.ts';

/**
 * Every constant by which two voices beside each other are judged. `--json` reports them beside the figures. Times are
 * milliseconds, levels dBov: the RMS of a full-scale sine is −3.
 */
export const dialogueRules = {
  /** Levels are measured in steps of this length; all times are multiples of it. */
  stepMs: 5,
  /** Speech is this far above the background of its side … */
  aboveFloorDb: 15,
  /** … and never softer than this. */
  softestDbov: -60,
  /**
   * From a step above that gate speech reaches back and forth as long as its bands differ from the background: the natural
   * logarithm of the ratio of both likelihoods is above this, and above what the background reaches by itself …
   */
  edgeEvidence: 15,
  /** … over this long. */
  evidenceMs: 40,
  /** It starts and ends where single steps, added up, give more than this each. */
  stepEvidence: 3,
  /** Speech below the gate counts where the evidence is this much over the edge … */
  softEvidence: 364,
  /** … and this close to a sound that is above the gate. */
  softNearMs: 350,
  /** What is softer than this in a band is no evidence. */
  softestBandDbov: -65,
  /** As much of an end of speech, on average, is below a background that can be heard … */
  hiddenMs: 10,
  /** … where its last step is less than this above the background. */
  hiddenBelowDb: 10,
  /** Softer audio is digital silence: it is no background. */
  digitalSilenceDbov: -85,
  /** The background is measured where its level is steady for this long … */
  floorWindowMs: 200,
  /** … within this range, from the 10th to the 90th percentile … */
  floorSteadyDb: 8,
  /** … with hardly anything softer than this below it … */
  floorBottomDb: 5,
  /** … and this far below the loud parts of the side, at most this long. */
  loudMs: 200,
  floorBelowLoudDb: 12,
  /** Its bands are measured where it is less than this above its softest. */
  floorNearDb: 3,
  /** A sound goes on over a shorter pause. */
  soundJoinMs: 60,
  /** A shorter sound is a click, unless it is this close to a longer one. */
  shortestSoundMs: 20,
  clickDistanceMs: 150,
  /** The AI is silent after this long without sound; its silence counts from the start of that. */
  aiSilentMs: 350,
  /** Without a script a turn of the user ends after this long without sound. */
  turnPauseMs: 700,
  /** The AI goes on with a reply after a shorter pause in which no turn ended. */
  replyPauseMs: 1_000,
  /** A reply is early if it leads the end of the turn by more than this. */
  earlyMs: 50,
  /** An AI that goes on for this long after an interruption does not yield. */
  neverYieldsMs,
  /** An AI that stops this soon after a sound that is no turn was stopped by it. */
  falseStopMs: 1_000,
  /** It has resumed if it goes on within this time. */
  resumeMs: 4_000,
  /** Audio that begins this soon after a sound that is no turn answers it. */
  answersNoiseMs: 2_000,
  /** Without a script, a shorter sound that stops the AI is a remark. */
  shortSoundMs: 1_000,
  /** An end without decay: its last audio is at most this far below the active level of the AI … */
  cutBelowActiveDb: 15,
  /** … it does not fall by this within 20 ms, or it is still this close to that level … */
  cutFallDb: 6,
  cutLoudDb: 8,
  /** … and what follows is this much softer. */
  cutDropDb: 12,
  /** An `interrupted` message belongs to an end of AI audio this long before or after it. */
  stopMessageMs: 500,
  /** Figures of fewer events are not compared between runs. */
  fewestCompared: 10,
} as const;

export type DialogueRules = typeof dialogueRules;

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
  /** From a step above that gate speech reaches back and forth as long as it is this far above the background. */
  edgeAboveFloorDb: 1.2,
  /** … over this long. */
  edgeSmoothMs: 40,
  /** Softer speech counts where it is this far above the unevenness of the background … */
  softAboveFloorDb: 5,
  /** … and this close to a sound that is above the gate. */
  softNearMs: 350,
  /** As much of an end of speech, on average, is below a background that can be heard … */
  hiddenMs: 10,
  /** … where its last step is less than this above the edge. */
  hiddenFallDb: 8,
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
  /** … it does not fall by this within 20 ms … */
  cutFallDb: 6,
  /** … and what follows is this much softer. */
  cutDropDb: 12,
  /** An `interrupted` message belongs to an end of AI audio this long before or after it. */
  stopMessageMs: 500,
  /** Figures of fewer events are not compared between runs. */
  fewestCompared: 10,
} as const;

export type DialogueRules = typeof dialogueRules;

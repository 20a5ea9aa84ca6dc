import { neverYieldsMs } from '../../kernel/never-yields.ts';

/**
 * All constants for judging how two voices take turns. `--json` reports them with the figures. Times are in milliseconds,
 * levels in dBov: the RMS of a full-scale sine is −3.
 */
export const dialogueRules = {
  /** Levels are measured in steps of this length; all times are multiples of it. */
  stepMs: 5,
  /** Speech is at least this far above the background of its side … */
  aboveFloorDb: 15,
  /** … and never softer than this. */
  softestDbov: -60,
  /**
   * From a step above that gate, speech extends in both directions as long as its bands differ from the background: the
   * natural logarithm of the likelihood ratio is above this, and above what the background produces by itself …
   */
  edgeEvidence: 15,
  /** … over this long. */
  evidenceMs: 40,
  /** It starts and ends where the sum over single steps grows by more than this per step. */
  stepEvidence: 3,
  /** Speech below the gate counts if the evidence exceeds the edge by this much … */
  softEvidence: 364,
  /** … and if it is this close to a sound above the gate. */
  softNearMs: 350,
  /** Audio in a band that is softer than this is not evidence. */
  softestBandDbov: -65,
  /** On average this much of an end of speech is hidden by an audible background … */
  hiddenMs: 10,
  /** … if its last step is less than this above the background. */
  hiddenBelowDb: 10,
  /** Softer audio is digital silence, and does not count as background. */
  digitalSilenceDbov: -85,
  /** The background is measured where the level is steady for this long … */
  floorWindowMs: 200,
  /** … within this range, from the 10th to the 90th percentile … */
  floorSteadyDb: 8,
  /** … with hardly anything softer than this below it … */
  floorBottomDb: 5,
  /** … and this far below the loud parts of the side, at most this long. */
  loudMs: 200,
  floorBelowLoudDb: 12,
  /** Audio without such a stretch, like a short clip, has a background if it starts and ends with a steady level … */
  shortFloorWindowMs: 40,
  /** … for at least that long, and this far below its loud parts. */
  shortFloorBelowLoudDb: 25,
  /** Its bands are measured where it is less than this above its softest level. */
  floorNearDb: 3,
  /** A shorter pause does not end a sound. */
  soundJoinMs: 60,
  /** A shorter sound is a click, unless it is this close to a longer one. */
  shortestSoundMs: 20,
  clickDistanceMs: 150,
  /** The AI is silent after this long without sound; the silence counts from its beginning. */
  aiSilentMs: 350,
  /** Without a script, a turn of the user ends after this long without sound. */
  turnPauseMs: 700,
  /** A shorter pause in which no turn ended does not end a reply. */
  replyPauseMs: 1_000,
  /** A reply is early if it begins more than this before the end of the turn. */
  earlyMs: 50,
  /** An AI that goes on for this long after an interruption does not yield. */
  neverYieldsMs,
  /** If the AI stops this soon after a sound that is not a turn, the sound is the reason. */
  falseStopMs: 1_000,
  /** It has resumed if it goes on within this time. */
  resumeMs: 4_000,
  /** AI audio that begins this soon after a sound that is not a turn is a reply to it. */
  answersNoiseMs: 2_000,
  /** Without a script, a remark reports that a shorter sound stopped the AI. */
  shortSoundMs: 1_000,
  /** An end without decay: its last audio is at most this far below the active level of the AI … */
  cutBelowActiveDb: 15,
  /** … it does not fall by this much within 20 ms, or it is still this close to that level … */
  cutFallDb: 6,
  cutLoudDb: 8,
  /** … and the audio after it is this much softer. */
  cutDropDb: 12,
  /** An `interrupted` message belongs to an end of AI audio if it comes this long before or after it. */
  stopMessageMs: 500,
  /** Figures from fewer events are not compared between runs. */
  fewestCompared: 10,
} as const;

export type DialogueRules = typeof dialogueRules;

import { playPcm } from './playable.ts';
import { takeTurns } from './turns.ts';

/** Speaks the user's utterance back when they have finished it. */
export const parrot = takeTurns(playPcm);

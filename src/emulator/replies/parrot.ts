import { playPcm } from '../../service/streams/playable.ts';
import { takeTurns } from './turns.ts';

/** Repeats each turn of the user when it has ended. */
export const parrot = takeTurns(playPcm);

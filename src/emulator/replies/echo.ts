import type { CreateReply } from './reply.ts';

/** Sends every audio message back at once. */
export const echo: CreateReply = ({ send }) => ({ hear: send });
